import Foundation

/// DER that a test puts together from its parts, also such that no encoder writes.
package enum DERValue {
    /// A value with this tag, and with the length of its parts.
    package static func node(_ tag: UInt8, _ parts: Data...) -> Data { node(tag, parts) }

    package static func node(_ tag: UInt8, _ parts: [Data]) -> Data {
        let content = parts.reduce(Data(), +)
        var length = Data()
        switch content.count {
        case ..<0x80: length.append(UInt8(content.count))
        case ..<0x100: length.append(contentsOf: [0x81, UInt8(content.count)])
        case ..<0x10000:
            length.append(contentsOf: [0x82, UInt8(content.count >> 8 & 0xFF), UInt8(content.count & 0xFF)])
        default:
            length.append(contentsOf: [0x83] + [16, 8, 0].map { UInt8(content.count >> $0 & 0xFF) })
        }
        return [tag] + length + content
    }

    package static func sequence(_ parts: Data...) -> Data { node(0x30, parts) }

    package static func sequence(_ parts: [Data]) -> Data { node(0x30, parts) }

    /// An OBJECT IDENTIFIER, such as `2.5.29.19`.
    package static func identifier(_ text: String) -> Data {
        let numbers = text.split(separator: ".").compactMap { UInt64($0) }
        var content = Data()
        for number in [numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2) {
            var digits = [UInt8(number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            content.append(contentsOf: digits)
        }
        return node(0x06, content)
    }

    /// A number from 0 on.
    package static func integer(_ number: Int, tag: UInt8 = 0x02) -> Data {
        var bytes = [UInt8(number & 0xFF)]
        var rest = number >> 8
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return node(tag, Data(bytes[0] & 0x80 == 0 ? bytes : [0] + bytes))
    }

    package static func bits(_ bytes: Data, unused: UInt8 = 0) -> Data { node(0x03, [unused] + bytes) }

    /// A Time (RFC 5280, 4.1.2.5).
    package static func time(_ date: Date) -> Data {
        let digits = date.formatted(.iso8601).filter { !"-:T".contains($0) }
        return digits < "2050" ? node(0x17, Data(digits.dropFirst(2).utf8)) : node(0x18, Data(digits.utf8))
    }

    /// A Name of attributes such as `CN=leaf`, each in a set of its own.
    package static func name(_ attributes: [String]) -> Data {
        let types = ["CN": "2.5.4.3", "O": "2.5.4.10", "OU": "2.5.4.11", "C": "2.5.4.6", "E": "1.2.840.113549.1.9.1"]
        return sequence(
            attributes.map { attribute in
                let parts = attribute.split(separator: "=", maxSplits: 1).map(String.init)
                // A mail address is an IA5String.
                let text = node(parts[0] == "E" ? 0x16 : 0x0C, Data(parts[1].utf8))
                return node(0x31, sequence(identifier(types[parts[0]] ?? parts[0]), text))
            })
    }

    /// The bytes that hexadecimal digits say. Other characters are passed over.
    package static func hex(_ text: String) -> Data {
        let digits = text.compactMap(\.hexDigitValue)
        return Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
