import Bytes
import KeychainModel

/// Where an internet password is used: what a URL says, without a password.
package struct InternetAddress: Equatable {
    /// In small letters, such as `https`; nil if none is given.
    package var scheme: String?
    /// As it was written. An address of IPv6 may be in brackets.
    package var host: String
    package var port: Int64?
    /// Without the slash at its start and those at its end.
    package var path: String?
    package var account: String?

    package init(scheme: String? = nil, host: String, port: Int64? = nil, path: String? = nil, account: String? = nil) {
        (self.scheme, self.host, self.port, self.account) = (scheme?.inSmallASCII, host, port, account)
        var trimmed = path.map { Substring($0) } ?? ""
        if trimmed.utf8.first == Self.slash { trimmed.unicodeScalars.removeFirst() }
        while trimmed.utf8.last == Self.slash { trimmed.unicodeScalars.removeLast() }
        self.path = trimmed.isEmpty ? nil : String(trimmed)
    }

    private static let slash = UInt8(ascii: "/")

    package init(_ item: StoredItem) {
        func text(_ name: AttributeName) -> String? {
            let text: String? =
                switch item.attribute(name) {
                case .string(let text): text
                case .data(let bytes): String(validating: bytes, as: UTF8.self)
                // Zero is what an item has that says nothing of its protocol.
                case .number(let number) where number != 0: String(number)
                default: nil
                }
            return text?.isEmpty == false ? text : nil
        }
        var port: Int64?
        if case .number(let number)? = item.attribute(.port), number != 0 { port = number }
        self.init(
            scheme: text(.networkProtocol).map(Self.scheme), host: text(.server) ?? "", port: port, path: text(.path),
            account: text(.account))
    }

    /// The address as a URL, which is read as this address again.
    package var url: String {
        let port = port.map { ":\($0)" } ?? ""
        let host = host.contains(":") ? canonicalHost : host
        return (scheme.map { "\($0)://" } ?? "") + host + port + (path.map { "/" + Self.encoded($0, "%?#\\") } ?? "")
    }

    /// The address as a URL, with the account if there is one.
    var urlWithAccount: String {
        guard let account else { return url }
        let start = scheme.map { "\($0)://" } ?? ""
        return start + Self.encoded(account, " %/?#@:[]\\") + "@" + url.dropFirst(start.count)
    }

    /// Returns a part of a URL in which control characters and others are percent-encoded.
    private static func encoded(_ part: String, _ others: String) -> String {
        let bytes = part.utf8.reduce(into: [UInt8]()) { bytes, byte in
            if byte < 0x20 || byte == 0x7F || others.utf8.contains(byte) {
                bytes += Array("%\(CollectionOfOne(byte).hexadecimal())".utf8)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Services

    /// What an address names. Two forms of one address name the same service. Parts are compared as bytes, because
    /// different texts can look the same.
    struct Service: Hashable {
        fileprivate var scheme: [UInt8]?
        fileprivate var host: [UInt8]
        fileprivate var port: Int64?
        fileprivate var path: [UInt8]
    }

    /// Without a port: the default port of the scheme. Without a path: no path.
    var service: Service {
        Service(
            scheme: scheme.map { Array($0.utf8) }, host: Array(canonicalHost.utf8), port: port ?? defaultPort,
            path: Array((path ?? "").utf8))
    }

    /// Whether this address, which somebody asks for, names a password that is stored under the other one.
    ///
    /// A part that is left out matches no other value, except the account. A person may also leave out the scheme; then
    /// it is the stored one's.
    func names(_ stored: InternetAddress) -> Bool {
        var asked = self
        asked.scheme = scheme ?? stored.scheme
        return asked.service == stored.service
            && (account.map { $0.utf8.elementsEqual((stored.account ?? "").utf8) } ?? true)
    }

    /// Whether a listing of this address has the other one: what is not given can be anything.
    func includes(_ stored: InternetAddress) -> Bool {
        var asked = self
        asked.scheme = scheme ?? stored.scheme
        if port == nil { asked.port = stored.port ?? stored.defaultPort }
        asked.path = path ?? stored.path
        return asked.names(stored)
    }

    /// Names of hosts compare without case; other than that a host is another one, also with a dot at its end.
    var canonicalHost: String {
        let small = host.inSmallASCII
        return small.contains(":") && !small.hasPrefix("[") ? "[\(small)]" : small
    }

    private static let defaultPorts: [String: Int64] = [
        "ftp": 21, "ftps": 990, "git": 9418, "http": 80, "https": 443, "imap": 143, "imaps": 993, "ldap": 389,
        "ldaps": 636, "pop3": 110, "pop3s": 995, "sftp": 22, "smb": 445, "smtp": 25, "smtps": 465, "socks": 1080,
        "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080, "ssh": 22, "ws": 80, "wss": 443,
    ]

    /// Nil for a scheme that has none.
    private var defaultPort: Int64? { scheme.flatMap { Self.defaultPorts[$0] } }

    // MARK: Items

    /// The attributes that a new item with this address has.
    package var attributes: ItemAttributes {
        var attributes: ItemAttributes = [.server: .string(canonicalHost)]
        if let scheme { attributes[.networkProtocol] = .string(Self.code(of: scheme)) }
        if let port, port != defaultPort { attributes[.port] = .number(port) }
        if let path { attributes[.path] = .string(path) }
        if let account { attributes[.account] = .string(account) }
        return attributes
    }

    /// The attributes of items that this address may name: one for each form in which a program may have written it.
    var searches: [ItemAttributes] {
        let hosts = host == canonicalHost ? [host] : [host, canonicalHost]
        var ports: [Int64?] = [nil]
        if scheme != nil {
            ports = [port ?? 0]
            if let defaultPort, (port ?? defaultPort) == defaultPort { ports = [0, defaultPort] }
        }
        return hosts.flatMap { host in
            ports.map { port in
                var attributes = attributes
                attributes[.server] = .string(host)
                attributes[.port] = port.map(AttributeValue.number)
                attributes[.path] = .string(path ?? "")
                return attributes
            }
        }
    }

    // MARK: Protocols

    /// Apple's names of protocols, four characters each (`kSecAttrProtocol…`). Others are stored as they are.
    private static let codes = [
        "ftp": "ftp ", "ftps": "ftps", "http": "http", "https": "htps", "imap": "imap", "imaps": "imps", "ldap": "ldap",
        "ldaps": "ldps", "pop3": "pop3", "pop3s": "pops", "smb": "smb ", "smtp": "smtp", "ssh": "ssh ",
    ]

    static func code(of scheme: String) -> String {
        if let code = codes[scheme] { return code }
        // A scheme that is called as Apple's name of another one is not that one.
        return codes.values.contains(scheme) ? scheme + ":" : scheme
    }

    static func scheme(_ code: String) -> String {
        if let scheme = codes.first(where: { $0.value == code })?.key { return scheme }
        return code.hasSuffix(":") && codes.values.contains(String(code.dropLast())) ? String(code.dropLast()) : code
    }
}

extension String {
    /// With the letters A to Z in small letters, and all others as they are.
    fileprivate var inSmallASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
