import Bytes

/// The forms in which bytes stand in a message: as they are, and encoded.
package enum SecretForms {
    private static let alphanumeric = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// Everything but letters, digits and `others` as `%` and two digits (RFC 3986, 2.1).
    ///
    /// - Parameter others: By default the unreserved characters of its section 2.3.
    package static func percent(
        _ bytes: some Sequence<UInt8>, isUpper: Bool = true, keeping others: String = "-._~"
    ) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if alphanumeric.contains(byte) || others.utf8.contains(byte) {
                result.append(byte)
            } else {
                result.append(0x25)
                result += hexadecimal(CollectionOfOne(byte), isUpper: isUpper)
            }
        }
        return result
    }

    package static func hexadecimal(_ bytes: some Sequence<UInt8>, isUpper: Bool) -> [UInt8] {
        let digits = Array((isUpper ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// The inside of a JSON string (RFC 8259, 7).
    ///
    /// - Parameter escapesSlash: Whether `/` is escaped, which some writers do.
    package static func json(_ bytes: some Sequence<UInt8>, escapesSlash: Bool = false) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x22, 0x5C: result += [0x5C, byte]
            case 0x2F where escapesSlash: result += [0x5C, byte]
            case 0x08: result += Array(#"\b"#.utf8)
            case 0x09: result += Array(#"\t"#.utf8)
            case 0x0A: result += Array(#"\n"#.utf8)
            case 0x0C: result += Array(#"\f"#.utf8)
            case 0x0D: result += Array(#"\r"#.utf8)
            case 0..<0x20: result += Array(#"\u00"#.utf8) + hexadecimal(CollectionOfOne(byte), isUpper: false)
            default: result.append(byte)
            }
        }
        return result
    }

    /// The characters of Base64 that the bytes alone decide, for each place at which they may begin in a group of
    /// three.
    ///
    /// Up to one character on each side also depends on a neighbour, and tells four bits of the first or the last byte.
    static func base64Cores(_ bytes: [UInt8], _ base64: UnpaddedBase64) -> [[UInt8]] {
        (0..<3).map { offset in
            let encoded = base64.encode([UInt8](repeating: 0, count: offset) + bytes)
            let end = (offset + bytes.count) * 8 / 6
            return Array(encoded[(offset * 8 + 5) / 6..<end])
        }
    }

    /// What is looked for in answers: a secret as it is, and what no undoing of escapes leads back to it.
    static func masked(_ secret: SecretBytes) -> [[UInt8]] {
        let bytes = secret.withUnsafeBytes { Array($0) }
        var forms = [bytes, hexadecimal(bytes, isUpper: false), bytes.filter { !DecodedText.isSpace($0) }]
        forms += base64Cores(bytes, .standard)
        // UTF-8 that somebody read as Latin-1 and wrote as UTF-8, and text that was written as Latin-1.
        forms.append(bytes.flatMap { Array(UTF8.encode(Unicode.Scalar($0)) ?? UTF8.encodedReplacementCharacter) })
        if let text = String(validating: bytes, as: UTF8.self), text.unicodeScalars.allSatisfy({ $0.value < 0x100 }) {
            forms.append(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            let units = text.utf16.map { (UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)) }
            forms += [units.flatMap { [$0.0, $0.1] }, units.flatMap { [$0.1, $0.0] }]
        }
        // What a secret with characters like '%41' becomes when escapes are undone that it has itself.
        var undone = bytes
        for _ in 0..<2 {
            let next = undone.withUnsafeBufferPointer { DecodedText.undoing(escapesOf: $0, isEnd: true).decoded }
            guard let next else { break }
            undone = next.bytes
            forms.append(undone)
        }
        return forms
    }
}
