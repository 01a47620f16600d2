import Foundation

extension Unicode.Scalar {
    /// Whether it moves the cursor, changes colors or turns the direction of what follows, instead of being seen.
    fileprivate var isControl: Bool {
        // What joins emoji, and parts letters in Persian and in Indian scripts.
        if value == 0x200D || value == 0x200C { return false }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}

/// A text as a terminal may show it: control characters stand as numbers.
package func printable(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { shown, scalar in
        if scalar.isControl {
            shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        } else {
            shown.unicodeScalars.append(scalar)
        }
    }
}

/// A value as JSON, in which control characters stand as numbers, too.
package func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self).unicodeScalars.reduce(into: "") { shown, scalar in
        // Line feeds are the encoder's; those of texts it has escaped.
        if scalar.isControl, scalar != "\n" {
            shown += String(scalar).utf16.map { String(format: "\\u%04x", $0) }.joined()
        } else {
            shown.unicodeScalars.append(scalar)
        }
    }
}
