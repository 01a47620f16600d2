import Bytes
import FoundationEssentials
import KeychainModel

/// Where an internet password is used: what a URL says, without a password.
struct InternetAddress: Equatable {
    /// Such as `https`; nil if none is given.
    var scheme: String?
    var host: String
    var port: Int64?
    /// Without the slash at its start and its end.
    var path: String?
    var account: String?

    init(scheme: String? = nil, host: String, port: Int64? = nil, path: String? = nil, account: String? = nil) {
        (self.scheme, self.host, self.port, self.account) = (scheme, host, port, account)
        let trimmed = path.map { $0.split(separator: "/").joined(separator: "/") }
        self.path = trimmed?.isEmpty == false ? trimmed : nil
    }

    /// Reads `host`, `host:8080/path` or `https://alice@host/path`. Nil for a text without a host, and for a URL with a
    /// password.
    init?(_ text: String) {
        let hasScheme = text.contains("://")
        guard let parts = URLComponents(string: hasScheme ? text : "//" + text), parts.password == nil,
            let host = parts.host, !host.isEmpty
        else { return nil }
        self.init(
            scheme: hasScheme ? parts.scheme?.lowercased() : nil, host: host, port: parts.port.map(Int64.init),
            path: parts.path, account: parts.user)
    }

    /// The attributes that an item with this address has. Those that the address leaves open are not among them.
    var attributes: [AttributeName: AttributeValue] {
        var attributes: [AttributeName: AttributeValue] = [.server: .string(host)]
        if let scheme { attributes[.networkProtocol] = .string(Self.code(of: scheme)) }
        if let port { attributes[.port] = .number(port) }
        if let path { attributes[.path] = .string(path) }
        if let account { attributes[.account] = .string(account) }
        return attributes
    }

    init(_ item: StoredItem) {
        func text(_ name: AttributeName) -> String? {
            guard case .string(let text)? = item.attribute(name), !text.isEmpty else { return nil }
            return text
        }
        var port: Int64?
        if case .number(let number)? = item.attribute(.port), number != 0 { port = number }
        self.init(
            scheme: text(.networkProtocol).map(Self.scheme), host: text(.server) ?? "", port: port, path: text(.path),
            account: text(.account))
    }

    /// The address as a URL.
    var url: String {
        let port = port.map { ":\($0)" } ?? ""
        return (scheme.map { "\($0)://" } ?? "") + host + port + (path.map { "/\($0)" } ?? "")
    }

    // MARK: Protocols

    /// Apple's names of protocols, four characters each (`kSecAttrProtocol…`). Others are stored as they are.
    private static let codes = [
        "ftp": "ftp ", "ftps": "ftps", "http": "http", "https": "htps", "imap": "imap", "imaps": "imps", "ldap": "ldap",
        "ldaps": "ldps", "pop3": "pop3", "pop3s": "pops", "smb": "smb ", "smtp": "smtp", "ssh": "ssh ",
    ]

    static func code(of scheme: String) -> String { codes[scheme] ?? scheme }

    static func scheme(_ code: String) -> String { codes.first { $0.value == code }?.key ?? code }
}
