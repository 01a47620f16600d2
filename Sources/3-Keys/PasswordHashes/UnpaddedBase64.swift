import FoundationEssentials

/// Base64 without padding (RFC 4648, section 4), as in hash strings.
enum UnpaddedBase64 {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let text = Data(bytes).base64EncodedString()
        return String(text.prefix { $0 != "=" })
    }

    /// Decodes a text; nil if no encoder writes it, for example with bits after the end.
    ///
    /// - Parameter dot: Whether `.` stands for `+`, as in passlib's strings.
    static func decode(_ text: String, dot: Bool = false) -> [UInt8]? {
        let plain = dot ? String(text.map { $0 == "." ? "+" : $0 }) : text
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: plain + padding), encode(data) == plain else { return nil }
        return Array(data)
    }
}
