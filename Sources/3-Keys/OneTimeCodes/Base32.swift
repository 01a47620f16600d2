import Bytes

/// Base32 (RFC 4648, section 6), as secrets of one-time passwords are written.
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Returns the text without padding.
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var (buffer, bits) = (0, 0)
        for byte in bytes {
            buffer = buffer << 8 | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[buffer >> bits & 31])
            }
            buffer &= 1 << bits - 1
        }
        if bits > 0 { text.append(alphabet[buffer << (5 - bits) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes; nil if `text` is not Base32. Letters may be small, and spaces, hyphens and padding anywhere,
    /// as people type them.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (buffer, bits) = (0, 0)
        for character in text.utf8 {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "="): continue
            default: return nil
            }
            buffer = (buffer << 5 | Int(value)) & 0xFFF
            bits += 5
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
        }
        // Five bits or more are a character too many, or one that is missing.
        return bits < 5 ? bytes : nil
    }
}
