import Bytes

extension InternetAddress {
    /// Reads `host`, `host:8080/path` or `https://alice@host/path`.
    ///
    /// Nil for a text without a host, for a URL with a password, and for one with a query or a fragment: no password
    /// belongs to those, and git's questions have the name of a user as it is, in which they can hide the host.
    package init?(_ text: String) {
        var rest = ArraySlice(text.utf8)
        guard !rest.contains(where: { $0 < 0x20 || $0 == 0x7F || "?#\\".utf8.contains($0) }) else { return nil }
        var scheme: String?
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            scheme = String(decoding: rest[..<colon], as: UTF8.self)
            rest = rest[(colon + 3)...]
        }
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let (authority, path) = (rest[..<end], rest[end...])
        var place = authority
        var account: String?
        // Names of users may have an @ of their own.
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            guard !authority[..<at].contains(UInt8(ascii: ":")) else { return nil }
            guard let name = Self.decoded(authority[..<at]) else { return nil }
            account = name
            place = authority[(at + 1)...]
        }
        guard let path = Self.decoded(path) else { return nil }
        self.init(
            scheme: scheme, authority: String(decoding: place, as: UTF8.self), path: path,
            account: account?.isEmpty == true ? nil : account)
    }

    /// - Parameter authority: A host, and a port after a colon if there is one.
    init?(scheme: String?, authority: String, path: String?, account: String?) {
        if let scheme {
            guard let first = scheme.utf8.first, Self.isLetter(first), scheme.utf8.allSatisfy(Self.isPartOfScheme)
            else {
                return nil
            }
        }
        let bytes = Array(authority.utf8)
        // The port is after the last colon, unless that is inside of an address of IPv6.
        let isBare = bytes.first != UInt8(ascii: "[") && bytes.count { $0 == UInt8(ascii: ":") } > 1
        let bracket = bytes.lastIndex(of: UInt8(ascii: "]")) ?? -1
        let colon = isBare ? nil : bytes.lastIndex(of: UInt8(ascii: ":")).flatMap { $0 > bracket ? $0 : nil }
        let host = bytes[..<(colon ?? bytes.count)]
        var port: Int64?
        if let colon, colon + 1 < bytes.count {
            let digits = bytes[(colon + 1)...]
            guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0
            else { return nil }
            port = Int64(number)
        }
        guard Self.isHost(host, isAddress: isBare || host.first == UInt8(ascii: "[")) else { return nil }
        self.init(
            scheme: scheme, host: String(decoding: host, as: UTF8.self), port: port, path: path, account: account)
    }

    private static func isHost(_ host: ArraySlice<UInt8>, isAddress: Bool) -> Bool {
        guard !host.isEmpty else { return false }
        guard isAddress else {
            return host.allSatisfy { isLetter($0) || isDigit($0) || $0 >= 0x80 || "-._~!$&'()*+,;=".utf8.contains($0) }
        }
        var address = host
        if address.first == UInt8(ascii: "[") {
            guard address.last == UInt8(ascii: "]") else { return false }
            address = address.dropFirst().dropLast()
        }
        // A zone follows a percent sign.
        return address.contains(UInt8(ascii: ":"))
            && address.allSatisfy { isLetter($0) || isDigit($0) || ":.%-_~".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isPartOfScheme(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "+-.".utf8.contains(byte)
    }

    /// Returns what percent-encoded bytes mean. A percent sign that encodes nothing stands for itself.
    ///
    /// - Returns: Nil if they are no text: as text, all such bytes would be the same.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(UInt8.init(hexadecimalDigit:)),
                let low = rest.dropFirst().first.flatMap(UInt8.init(hexadecimalDigit:))
            {
                result.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return String(validating: result, as: UTF8.self)
    }
}
