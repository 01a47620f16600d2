import Access
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel

/// A credential helper of git (gitcredentials(7), git-credential(1)).
///
/// A password is an internet password. A refresh token of OAuth is another one of the same address, with a security
/// domain of its own. The time at which git's password expires is the item's expiry.
enum GitCredential {
    /// The security domain of refresh tokens.
    static let tokenDomain = "git-oauth-refresh-token"
    /// The custom attribute with the scheme of a credential that is no password, such as `Bearer`.
    static let typeAttribute = "git-authtype"

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
        let found = try passwords.find(address, in: .only(nil)).first { item in
            item.customAttributes[typeAttribute] == nil || request.capabilities.contains("authtype")
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
        if let end = item.expiry.date { answer.add("password_expiry_utc", "\(GitTime.seconds(end))") }
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
        let end = request.text("password_expiry_utc").flatMap(GitTime.date)
        try passwords.store(
            secret, at: address, custom: type.map { [typeAttribute: $0] } ?? [:], expiry: Expiry(end))
        if let token = request["oauth_refresh_token"] {
            try passwords.store(token, at: address, domain: tokenDomain)
        }
    }

    private static func erase(_ request: GitRequest) throws {
        guard let address = request.address, let passwords = try InternetPasswords.present() else { return }
        let given = request["password"] ?? request["credential"]
        for item in try passwords.find(address, in: .only(nil)) {
            // A password that was replaced meanwhile is not the one that was refused.
            if let given {
                let isPassword = item.customAttributes[typeAttribute] == nil
                guard isPassword == (request["password"] != nil), try passwords.secret(item) == given else { continue }
            }
            if let token = try token(of: item, passwords) { try passwords.delete(token) }
            try passwords.delete(item)
        }
    }

    /// Returns the refresh token that belongs to a password; nil if there is none.
    static func token(of item: StoredItem, _ passwords: InternetPasswords) throws -> StoredItem? {
        var address = InternetAddress(item)
        address.account = address.account ?? ""
        return try passwords.find(address, in: .only(tokenDomain)).first {
            InternetAddress($0).service == address.service && $0.accessGroup.isSameGroup(as: item.accessGroup)
        }
    }
}

/// The end of a password as git writes it: seconds since 1970, in decimal digits.
private enum GitTime {
    /// 9999-12-31T23:59:59Z.
    private static let last: Int64 = 253_402_300_799

    /// Nil for what git takes for no end: a text that is not a number, and zero.
    static func date(_ text: String) -> Date? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let seconds = min(Int64(text) ?? last, last)
        return seconds == 0 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// Another program can have stored any number.
    static func seconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970
        return seconds.isNaN ? 1 : Int64(clamping: max(1, min(seconds, Double(last))))
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

    /// Nil for bytes that are not UTF-8, too: as text, all of them would be the same.
    func text(_ name: String) -> String? { values[name].flatMap { String(validating: $0, as: UTF8.self) } }

    /// Nil without a protocol or a host: a helper must not answer then with whatever it has. Nil also if a part of the
    /// address is no text: nothing is kept for it, and nothing given.
    var address: InternetAddress? {
        guard let scheme = text("protocol"), let host = text("host"),
            ["path", "username"].allSatisfy({ values[$0] == nil || text($0) != nil })
        else { return nil }
        return InternetAddress(scheme: scheme, authority: host, path: text("path"), account: text("username"))
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
