import Bytes
import FoundationEssentials
import KeychainModel

/// An item as `--json` shows it, without its value.
package struct ItemSummary: Encodable {
    package var service: AttributeText?
    package var account: AttributeText?
    package var group: String
    /// Only where items with one name are told apart.
    package var identifier: String?
    package var label: AttributeText?
    package var comment: AttributeText?
    package var attributes: [String: String]?
    package var accessible: String
    package var requires: [String]?
    package var synchronizable: Bool
    package var expires: String?
    package var expired: Bool?
    package var keep: Int?
    package var version: Int64
    package var created: String
    package var modified: String

    package init(_ item: StoredItem) {
        service = item.attribute(.service).map(AttributeText.init)
        account = item.attribute(.account).map(AttributeText.init)
        group = item.accessGroup
        label = item.attribute(.label).map(AttributeText.init)
        comment = item.attribute(.comment).map(AttributeText.init)
        attributes = item.customAttributes.isEmpty ? nil : item.customAttributes
        accessible = ProtectionName(item.accessControl.protection).rawValue
        requires = ItemRequirement.names(in: item.accessControl.flags)
        synchronizable = item.isSynchronizable
        expires = item.expiry.date.map { Timestamp($0).iso8601 }
        expired = item.expiry == .never ? nil : item.isExpired(Date())
        keep = item.kept.count
        version = item.version
        created = Timestamp(item.creationDate).iso8601
        modified = Timestamp(item.modificationDate).iso8601
    }
}

/// An attribute for people and scripts: its text, or its bytes if it is not text.
package struct AttributeText: Encodable {
    private enum Keys: CodingKey { case base64 }

    package let value: AttributeValue

    package init(_ value: AttributeValue) { self.value = value }

    package func encode(to encoder: any Encoder) throws {
        switch value {
        case .data(let bytes) where String(validating: bytes, as: UTF8.self) == nil:
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(bytes.base64EncodedString(), forKey: .base64)
        case .number(let number):
            var container = encoder.singleValueContainer()
            try container.encode(number)
        default:
            var container = encoder.singleValueContainer()
            try container.encode(plain)
        }
    }

    /// The text, without anything that moves a terminal's cursor or breaks a line.
    package var forTerminal: String { plain.escapedForTerminal }

    /// The text as it is.
    package var plain: String {
        switch value {
        case .string(let string): string
        case .data(let bytes):
            String(validating: bytes, as: UTF8.self) ?? "0x" + bytes.hexadecimal()
        case .number(let number): String(number)
        case .real(let real): String(real)
        case .date(let date): Timestamp(date).iso8601
        }
    }
}

extension String {
    /// The string with control characters, and those that reorder text, written as `\u{…}`.
    package var escapedForTerminal: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case _ where scalar.controlsTerminal: result += scalar.escaped
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
