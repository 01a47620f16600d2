/// Base64 without padding (RFC 4648). Text that no encoder writes is refused, so that there is one text for each
/// sequence of bytes.
package struct UnpaddedBase64: Sendable {
    /// With `+` and `/` (section 4).
    package static let standard = UnpaddedBase64("+/")
    /// With `-` and `_`, for URLs, cookies and names of files (section 5).
    package static let url = UnpaddedBase64("-_")

    private let alphabet: [UInt8]
    /// The values of all characters; 0xFF for those outside the alphabet.
    private let values: [UInt8]

    private init(_ last: String) {
        alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(truncatingIfNeeded: value) }
        self.values = values
    }

    /// How many bytes the longest text of `count` characters stands for.
    package static func decodedCount(_ count: Int) -> Int { count * 3 / 4 }

    /// Returns the text in ASCII.
    package func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        var (bits, count): (UInt32, Int) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(truncatingIfNeeded: count) & 0x3F)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(truncatingIfNeeded: 6 - count) & 0x3F)]) }
        return text
    }

    /// Returns the text.
    package func string(_ bytes: some Sequence<UInt8>) -> String { String(decoding: encode(bytes), as: UTF8.self) }

    /// Returns nil for anything that ``encode(_:)`` does not make.
    ///
    /// - Parameter text: In ASCII, such as the `utf8` of a string.
    package func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.decodedCount(text.count))
        var (bits, count): (UInt32, Int) = (0, 0)
        for character in text {
            let value = values[Int(character)]
            guard value != 0xFF else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(truncatingIfNeeded: count)))
            }
        }
        guard bits & (1 << UInt32(truncatingIfNeeded: count) - 1) == 0 else { return nil }
        return bytes
    }

    /// Whether `character` is in the alphabet.
    package func contains(_ character: UInt8) -> Bool { values[Int(character)] != 0xFF }
}
