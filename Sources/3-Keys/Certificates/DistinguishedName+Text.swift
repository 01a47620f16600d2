import Bytes
import FoundationEssentials
import SwiftASN1

/// The reason why a text is not a name.
package struct NameTextError: Error, Hashable, CustomStringConvertible {
    /// Begins in lower case and says what to write instead.
    package let description: String
}

extension DistinguishedName {
    /// Reads a name as in `CN=www.example.com,O=Example\, Inc.,C=DE` (RFC 4514). The text begins with the most specific
    /// part, which is the last one in the encoding.
    package init(text: String) throws(NameTextError) {
        let parts = try Self.parts(of: text)
        guard !parts.isEmpty else {
            throw NameTextError(description: "the subject is empty: write it as in 'CN=www.example.com,O=Example'")
        }
        var serializer = DER.Serializer()
        do {
            try serializer.appendConstructedNode(identifier: .sequence) { name in
                for (type, value) in parts.reversed() {
                    try name.appendConstructedNode(identifier: .set) { set in
                        try set.appendConstructedNode(identifier: .sequence) { pair in
                            try pair.serialize(type.identifier)
                            try type.append(value, to: &pair)
                        }
                    }
                }
            }
            try self.init(der: Data(serializer.serializedBytes))
        } catch {
            throw NameTextError(
                description: "a part of the subject has characters that its type does not allow: a country is two "
                    + "letters, an e-mail address or domain component plain ASCII")
        }
    }

    private static func parts(of text: String) throws(NameTextError) -> [(AttributeType, String)] {
        var parts: [(AttributeType, String)] = []
        for part in try split(text) {
            guard let equals = part.firstIndex(where: { $0 == .plain(UInt8(ascii: "=")) }) else {
                throw NameTextError(
                    description: "a part of the subject has no '=': write it as in 'CN=www.example.com,O=Example', "
                        + "and a comma in a value as '\\,'")
            }
            let name = string(trimmed(part[..<equals])) ?? ""
            guard let type = AttributeType(name) else {
                throw NameTextError(
                    description: "'\(name)' is not known in a subject: use CN, O, OU, C, ST, L, STREET, DC, UID, E or "
                        + "an object identifier")
            }
            guard let value = string(trimmed(part[(equals + 1)...])), !value.isEmpty else {
                throw NameTextError(
                    description: "\(name) has no value: write it as in '\(name)=Example', or leave it out")
            }
            parts.append((type, value))
        }
        return parts
    }

    /// A byte of the text, and whether it was escaped.
    private enum Byte: Equatable {
        case plain(UInt8)
        case escaped(UInt8)

        var value: UInt8 {
            switch self {
            case .plain(let byte), .escaped(let byte): byte
            }
        }
    }

    private static func split(_ text: String) throws(NameTextError) -> [ArraySlice<Byte>] {
        var bytes: [Byte] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(.plain(byte))
                continue
            }
            if let code = [UInt8](hexadecimal: rest.prefix(2))?.first {
                rest.removeFirst(2)
                bytes.append(.escaped(code))
            } else if let next = rest.popFirst() {
                bytes.append(.escaped(next))
            } else {
                throw NameTextError(description: "the subject ends in a backslash: write '\\\\' for one that is meant")
            }
        }
        guard !bytes.contains(.plain(UInt8(ascii: "+"))) else {
            throw NameTextError(description: "a '+' stands in the subject: write '\\+' if it belongs to a value")
        }
        return bytes.split(separator: .plain(UInt8(ascii: ",")))
    }

    private static func trimmed(_ bytes: ArraySlice<Byte>) -> ArraySlice<Byte> {
        let start = bytes.drop { $0 == .plain(UInt8(ascii: " ")) }
        let end = start.reversed().drop { $0 == .plain(UInt8(ascii: " ")) }.count
        return start.prefix(end)
    }

    private static func string(_ bytes: ArraySlice<Byte>) -> String? {
        String(validating: bytes.map(\.value), as: UTF8.self)
    }
}

/// An attribute type, with the string type of its values (RFC 5280, appendix A).
private struct AttributeType {
    let identifier: ASN1ObjectIdentifier
    private let form: Form

    private enum Form {
        case utf8
        case printable(length: Int)
        case ascii
    }

    /// The short names of RFC 4514, 3, and the usual ones for e-mail addresses.
    init?(_ name: String) {
        switch name.uppercased() {
        case "CN": (identifier, form) = (.NameAttributes.commonName, .utf8)
        case "O": (identifier, form) = (.NameAttributes.organizationName, .utf8)
        case "OU": (identifier, form) = (.NameAttributes.organizationalUnitName, .utf8)
        case "L": (identifier, form) = (.NameAttributes.localityName, .utf8)
        case "ST": (identifier, form) = (.NameAttributes.stateOrProvinceName, .utf8)
        case "C": (identifier, form) = (.NameAttributes.countryName, .printable(length: 2))
        // streetAddress and userId (RFC 4519, 2.34 and 2.39)
        case "STREET": (identifier, form) = ([2, 5, 4, 9], .utf8)
        case "UID": (identifier, form) = ([0, 9, 2342, 19_200_300, 100, 1, 1], .utf8)
        case "DC": (identifier, form) = (.NameAttributes.domainComponent, .ascii)
        case "E", "EMAILADDRESS": (identifier, form) = (.NameAttributes.emailAddress, .ascii)
        default:
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { $0.hasPrefix("+") ? nil : UInt($0) }
            // One byte holds the first two numbers (X.690, 8.19.4).
            guard numbers.count == parts.count, numbers.count >= 2,
                numbers[0] == 2 || numbers[0] < 2 && numbers[1] < 40,
                let identifier = try? ASN1ObjectIdentifier(elements: numbers)
            else { return nil }
            (self.identifier, form) = (identifier, .utf8)
        }
    }

    func append(_ value: String, to serializer: inout DER.Serializer) throws {
        switch form {
        case .utf8:
            try serializer.serialize(ASN1UTF8String(value))
        case .printable(let length):
            guard value.utf8.count == length else { throw CertificateError(malformed: "name") }
            try serializer.serialize(ASN1PrintableString(value))
        case .ascii:
            try serializer.serialize(ASN1IA5String(value))
        }
    }
}
