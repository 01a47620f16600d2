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

    /// Forms of fewer bytes are not masked: so much else would be masked that it tells what they are.
    package static let shortest = 6

    /// The forms of a secret that are masked in answers.
    package static func masked(_ secret: SecretBytes) throws -> [SecretBytes] {
        let bytes = secret.withUnsafeBytes { Array($0) }
        var forms = [bytes]
        for isUpper in [true, false] {
            // RFC 3986, JavaScript's encodeURIComponent, and forms (URL Standard, 5.2), which have '+' for a space.
            let percents = ["-._~", "-._~!'()*", "-._*"].map { percent(bytes, isUpper: isUpper, keeping: $0) }
            forms += percents + percents.map(plus) + [hexadecimal(bytes, isUpper: isUpper)]
        }
        for isEscapingSlash in [false, true] {
            let text = json(bytes, escapesSlash: isEscapingSlash)
            // Some writers keep the text out of HTML's way.
            forms += [text] + [false, true].map { replaced(text, isUpper: $0) }
        }
        forms += [entities(bytes, quote: "&#39;"), entities(bytes, quote: "&#x27;"), entities(bytes, quote: "&apos;")]
        forms += [UnpaddedBase64.standard, .url].flatMap { base64Cores(bytes, $0) }
        if let text = String(validating: bytes, as: UTF8.self), !text.utf8.allSatisfy({ $0 < 0x80 }) {
            forms += [true, false].map { isUpper in
                text.utf16.flatMap { unit in
                    unit < 0x80
                        ? json(CollectionOfOne(UInt8(truncatingIfNeeded: unit)))
                        : Array(#"\u"#.utf8)
                            + hexadecimal(
                                [UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit)],
                                isUpper: isUpper)
                }
            }
        }
        var seen: Set<[UInt8]> = []
        return try forms.filter { $0.count >= shortest && seen.insert($0).inserted }.map { form in
            try form.withUnsafeBytes { try SecretBytes(copying: $0) }
        }
    }

    /// JSON with `<`, `>`, `&` and `'` as Go, Rails and PHP may write them.
    private static func replaced(_ text: [UInt8], isUpper: Bool) -> [UInt8] {
        text.flatMap { byte in
            "<>&".utf8.contains(byte)
                ? Array(#"\u00"#.utf8) + hexadecimal(CollectionOfOne(byte), isUpper: isUpper) : [byte]
        }
    }

    /// HTML's text and attributes.
    private static func entities(_ bytes: [UInt8], quote: String) -> [UInt8] {
        bytes.flatMap { byte in
            switch byte {
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            case UInt8(ascii: ">"): Array("&gt;".utf8)
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "\""): Array("&quot;".utf8)
            case UInt8(ascii: "'"): Array(quote.utf8)
            default: [byte]
            }
        }
    }

    private static func plus(_ percent: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = percent[...]
        while let byte = rest.first {
            if rest.starts(with: "%20".utf8) {
                result.append(0x2B)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
