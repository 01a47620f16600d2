import FoundationEssentials

/// Base64 without padding (RFC 4648, section 4), as strings of hashes have it.
enum UnpaddedBase64 {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let text = Data(bytes).base64EncodedString()
        return String(text.prefix { $0 != "=" })
    }

    /// Nil for what no encoder writes, bits behind the end among it.
    ///
    /// - Parameter dot: Whether `.` stands for `+`, as in passlib's strings.
    static func decode(_ text: String, dot: Bool = false) -> [UInt8]? {
        let plain = dot ? String(text.map { $0 == "." ? "+" : $0 }) : text
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: plain + padding), encode(data) == plain else { return nil }
        return Array(data)
    }
}
