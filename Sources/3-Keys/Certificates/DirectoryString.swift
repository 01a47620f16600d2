import SwiftASN1

/// The string types of the attributes of a name.
enum DirectoryString {
    /// Returns the text of a string of any type; nil for other types and for bytes that the type does not allow.
    static func text(of node: ASN1Node) -> String? {
        guard case .primitive(let bytes) = node.content else { return nil }
        switch node.identifier {
        case .utf8String:
            return String(validating: bytes, as: UTF8.self)
        case .printableString, .ia5String, .numericString:
            return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case .teletexString, .visibleString, .generalString:
            // In practice ISO 8859-1, whose bytes are the first 256 Unicode scalars.
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case .bmpString:
            return units(of: bytes, UInt16.self).flatMap { String(validating: $0, as: UTF16.self) }
        case .universalString:
            return units(of: bytes, UInt32.self).flatMap { String(validating: $0, as: UTF32.self) }
        default:
            return nil
        }
    }

    /// Appends the value in its form for comparison: a PrintableString in upper case with single blanks, any other
    /// value unchanged.
    static func appendNormalized(_ node: ASN1Node, to serializer: inout DER.Serializer) {
        guard node.identifier == .printableString, case .primitive(let bytes) = node.content else {
            serializer.serialize(node)
            return
        }
        serializer.appendPrimitiveNode(identifier: .printableString) { output in
            let words = bytes.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 })
            let joined = words.map { $0.map(upperCase) }.joined(separator: [0x20])
            output.append(contentsOf: joined)
        }
    }

    private static func upperCase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
    }

    /// Returns the big-endian code units of the bytes; nil if the last one is incomplete.
    private static func units<Unit: FixedWidthInteger>(of bytes: ArraySlice<UInt8>, _: Unit.Type) -> [Unit]? {
        let width = MemoryLayout<Unit>.size
        guard bytes.count.isMultiple(of: width) else { return nil }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: width).map { start in
            bytes[start..<start + width].reduce(0) { $0 << 8 | Unit($1) }
        }
    }
}
