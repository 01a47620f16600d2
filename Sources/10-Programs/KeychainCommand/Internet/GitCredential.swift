import Bytes
import FoundationEssentials
import KeychainModel
import StatusCodes

/// A credential helper of git (gitcredentials(7), git-credential(1)).
///
/// A password is an internet password. A refresh token of OAuth is another one of the same address, with a security
/// domain of its own. The time at which git's password expires is the item's expiry.
enum GitCredential {
    private static let tokenDomain = "git-oauth-refresh-token"
    /// The custom attribute with the scheme of a credential that is no password, such as `Bearer`.
    private static let typeAttribute = "git-authtype"

    static func run(_ arguments: [String]) throws {
        guard let action = arguments.last, arguments.count == 1 else {
            throw Failure.usage("git starts this program: `git config --global credential.helper keychain`")
        }
        let request = GitRequest(try HelperProgram.input())
        // Later versions of git may have other actions, which a helper has to ignore.
        switch action {
        case "get": try get(request)
        case "store": try store(request)
        case "erase": try erase(request)
        default: break
        }
    }

    private static func get(_ request: GitRequest) throws {
        guard let address = request.address, let passwords = try InternetPasswords.present() else { return }
        let found = try passwords.find(address).first { item in
            item.securityDomain == nil
                && (item.customAttributes[typeAttribute] == nil || request.capabilities.contains("authtype"))
        }
        guard let item = found else { return }
        var answer = GitAnswer()
        let type = item.customAttributes[typeAttribute]
        if type != nil { answer.add("capability[]", "authtype") }
        // Some servers take an empty name.
        if case .string(let account)? = item.attribute(.account), type == nil || !account.isEmpty {
            answer.add("username", account)
        }
        if !item.isExpired(Date()), let secret = try passwords.secret(item) {
            if let type { answer.add("authtype", type) }
            answer.add(type == nil ? "password" : "credential", secret)
        }
        if let end = item.expiry.date {
            answer.add("password_expiry_utc", "\(Int64(clamping: end.timeIntervalSince1970))")
        }
        if let token = try token(of: item, passwords), let secret = try passwords.secret(token) {
            answer.add("oauth_refresh_token", secret)
        }
        try StandardOutput.write(answer.bytes)
    }

    private static func store(_ request: GitRequest) throws {
        guard let address = request.address, request.text("ephemeral") != "1" else { return }
        let type = request.text("authtype")
        guard let secret = type == nil ? request["password"] : request["credential"],
            address.account != nil || type != nil
        else { return }
        let passwords = try InternetPasswords(.ofOwner())
        let end = request.text("password_expiry_utc").flatMap { Double($0) }
        let expiry = end.map { Expiry.at(Date(timeIntervalSince1970: $0)) } ?? .never
        try passwords.store(
            secret, at: address, custom: type.map { [typeAttribute: $0] } ?? [:], expiry: expiry)
        if let token = request["oauth_refresh_token"] {
            try passwords.store(token, at: address, domain: tokenDomain)
        }
    }

    private static func erase(_ request: GitRequest) throws {
        guard let address = request.address, let passwords = try InternetPasswords.present() else { return }
        let given = request["password"] ?? request["credential"]
        for item in try passwords.find(address) where item.securityDomain == nil {
            // A password that was replaced meanwhile is not the one that was refused.
            if let given, try passwords.secret(item) != given { continue }
            if let token = try token(of: item, passwords) { try passwords.delete(token) }
            try passwords.delete(item)
        }
    }

    private static func token(of item: StoredItem, _ passwords: InternetPasswords) throws -> StoredItem? {
        let address = InternetAddress(item)
        return try passwords.find(address).first {
            $0.securityDomain == tokenDomain && InternetAddress($0) == address
        }
    }
}

/// What git asks: lines of `name=value`, up to an empty line.
private struct GitRequest {
    private var values: [String: Data] = [:]
    private(set) var capabilities: Set<String> = []

    init(_ input: Data) {
        for line in input.split(separator: 0x0A, omittingEmptySubsequences: false) {
            guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { break }
            let name = String(decoding: line[..<sign], as: UTF8.self)
            let value = Data(line[line.index(after: sign)...])
            if name == "capability[]" {
                capabilities.insert(String(decoding: value, as: UTF8.self))
            } else {
                values[name] = .wipedWhenFreed(value)
            }
        }
    }

    subscript(name: String) -> Data? { values[name] }

    func text(_ name: String) -> String? { values[name].map { String(decoding: $0, as: UTF8.self) } }

    /// Nil without a protocol or a host: a helper must not answer then with whatever it has.
    var address: InternetAddress? {
        guard let scheme = text("protocol"), let host = text("host"), !scheme.isEmpty, !host.isEmpty else { return nil }
        // The port is after the last colon, unless that is inside the brackets of an address.
        var (name, port) = (host, Int64?.none)
        if let colon = host.lastIndex(of: ":"), let number = Int64(host[host.index(after: colon)...]) {
            (name, port) = (String(host[..<colon]), number)
        }
        return InternetAddress(
            scheme: scheme, host: name, port: port, path: text("path"), account: text("username"))
    }
}

/// Lines for git.
private struct GitAnswer {
    private(set) var bytes = Data()

    mutating func add(_ name: String, _ value: String) { add(name, Data(value.utf8)) }

    mutating func add(_ name: String, _ value: Data) {
        // A line break would begin another line.
        guard !value.contains(0x0A), !value.contains(0) else { return }
        bytes += Data("\(name)=".utf8) + value + Data([0x0A])
    }
}
