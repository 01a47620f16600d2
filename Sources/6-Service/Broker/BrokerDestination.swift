import Bytes
import CLibrary
import FoundationEssentials

/// A server of a rule, and the paths there.
package struct BrokerDestination: Codable, Sendable, Equatable {
    package var isSecure: Bool
    /// In lower case. With `*.` in front, any one name below it.
    package var host: String
    package var port: Int
    /// The only path, or with `*` at its end the beginning of all; nil for any path.
    package var path: String?
    /// The IP address to dial; nil for what the system's resolver says.
    package var address: String?
    /// The log-in of a PostgreSQL server; nil for a server of HTTP.
    package var login: PostgresLogin?

    /// - Parameter text: `https://HOST[:PORT][/PATH]`, or `http://` for clear text, or
    ///   `postgres://USER@HOST[:PORT][/DATABASE]`.
    package init(_ text: String) throws(BrokerRule.Problem) {
        if let (login, authority) = try PostgresLogin.parse(text) {
            guard let (host, port) = Self.authority(authority, standard: PostgresLogin.port) else {
                throw BrokerRule.Problem("has a PostgreSQL server without a name: write postgres://USER@HOST/DATABASE")
            }
            (isSecure, self.host, self.port, self.login) = (true, host, port, login)
            return
        }
        let lower = text.lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://") else {
            throw BrokerRule.Problem("has '\(text)' as a server: write https://HOST, or postgres://USER@HOST/DATABASE")
        }
        isSecure = lower.hasPrefix("https://")
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        let isPattern = authority.hasPrefix("*.")
        guard
            let (host, port) = Self.authority(
                String(isPattern ? authority.dropFirst(2) : authority), standard: isSecure ? 443 : 80)
        else {
            throw BrokerRule.Problem("has '\(text)' as a server: write https://HOST:PORT")
        }
        (self.host, self.port) = (isPattern ? "*." + host : host, port)
        let path = String(rest[slash...])
        guard path.isEmpty || Self.isPlain(path.hasSuffix("*") ? String(path.dropLast()) : path) else {
            throw BrokerRule.Problem(
                "has the path '\(path)': a '*' stands at its end alone, and no '..', '//', '%2F' or '?' in it")
        }
        self.path = path.isEmpty || path == "/*" ? nil : path
    }

    /// The host as a URL has it.
    package var urlHost: String { Self.urlHost(host) }

    /// A host as a URL has it: an address of IPv6 is in brackets (RFC 3986, 3.2.2).
    package static func urlHost(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// Reads `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
    ///
    /// - Returns: The host in lower case, without a dot at its end; nil if it is none.
    package static func authority(_ text: String, standard: Int?) -> (host: String, port: Int)? {
        var host = text[...]
        var port = standard
        let end = text.hasPrefix("[") ? text.lastIndex(of: "]") : text.startIndex
        guard let end else { return nil }
        if let colon = text[end...].lastIndex(of: ":") {
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
                (1...65_535).contains(number)
            else { return nil }
            (host, port) = (text[..<colon], number)
        }
        guard let port else { return nil }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), let address = try? address(String(host.dropFirst().dropLast())) else {
                return nil
            }
            return (address, port)
        }
        let name = (host.hasSuffix(".") ? host.dropLast() : host).lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        // RFC 1035, 2.3.4; the underscore is common inside of networks.
        guard !labels.isEmpty, name.utf8.count <= 253,
            labels.allSatisfy({ label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { byte in
                        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
                    }
            })
        else { return nil }
        return (name, port)
    }

    /// Returns the IP address in the form that the system writes.
    package static func address(_ text: String) throws(BrokerRule.Problem) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        for family in [AF_INET, AF_INET6] where inet_pton(family, text, &bytes) == 1 {
            var room = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(family, bytes, &room, socklen_t(clamping: INET6_ADDRSTRLEN)) != nil else { break }
            return String(decoding: room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        throw BrokerRule.Problem("has '\(text)' as an IP address: write one such as 127.0.0.1 or ::1")
    }

    package func covers(_ request: BrokerRequest) -> Bool {
        guard login == nil, request.isSecure == isSecure, request.port == port, isHost(request.host) else {
            return false
        }
        guard let path else { return true }
        // Servers differ in what they make of other paths.
        guard Self.isPlain(request.path) else { return false }
        return path.hasSuffix("*") ? request.path.hasPrefix(path.dropLast()) : request.path == path
    }

    /// Whether this name is the host, or one name below it.
    package func isHost(_ name: String) -> Bool {
        guard host.hasPrefix("*.") else { return name == host }
        let suffix = host.dropFirst()
        return name.hasSuffix(suffix) && !name.dropLast(suffix.count).isEmpty
            && !name.dropLast(suffix.count).contains(".")
    }

    /// Whether every server sees the same segments in the path.
    static func isPlain(_ path: String) -> Bool {
        guard path.hasPrefix("/"), !path.contains("//"), path.utf8.allSatisfy(isPlain),
            isDecodable(path)
        else { return false }
        let lower = path.lowercased()
        guard !["%2f", "%5c", "%00", "%25", "%3b"].contains(where: { lower.contains($0) }) else { return false }
        return !lower.split(separator: "/").contains { segment in
            let plain = segment.replacing("%2e", with: ".")
            return plain == "." || plain == ".."
        }
    }

    /// Whether each `%` has its two digits, and the bytes that they stand for are UTF-8. Libraries differ in what they
    /// make of others, and send another target than they were given.
    package static func isDecodable(_ text: String) -> Bool { decoded(text) != nil }

    /// The text without its `%`; nil if it is not decodable.
    static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:)),
                let low = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// What RFC 3986, 3.3, has in a segment, without what servers give a meaning of their own.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~/%!$&'()+,=:@".utf8.contains(byte)
        }
    }
}
