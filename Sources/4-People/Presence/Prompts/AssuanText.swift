import Bytes

/// The escapes of Assuan: a percent sign and two hexadecimal digits.
enum AssuanText {
    static func escape(_ text: String) -> String {
        var escaped: [UInt8] = []
        // A line has at most 1000 bytes (Assuan manual), and an escape takes three.
        for byte in text.utf8 where escaped.count < 900 {
            // A newline ends a line, and some dialogs interpret a backslash.
            if byte < 0x20 || byte == UInt8(ascii: "%") || byte == 0x7F || byte == UInt8(ascii: "\\") {
                let digits = byte.hexadecimalDigits(uppercase: true)
                escaped += [UInt8(ascii: "%"), digits.high, digits.low]
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Decodes the data line `line` in place.
    ///
    /// - Returns: The part of `line` that holds the data.
    static func unescape(_ line: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        var (from, to) = (2, 2)
        while from < line.count {
            if line[from] == UInt8(ascii: "%"), from + 2 < line.count,
                let high = UInt8(hexadecimalDigit: line[from + 1]),
                let low = UInt8(hexadecimalDigit: line[from + 2])
            {
                line[to] = high << 4 | low
                from += 3
            } else {
                line[to] = line[from]
                from += 1
            }
            to += 1
        }
        return UnsafeRawBufferPointer(rebasing: line[min(2, to)..<to])
    }
}
