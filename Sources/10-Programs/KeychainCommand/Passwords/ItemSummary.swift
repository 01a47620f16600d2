import Bytes
import FoundationEssentials
import KeychainModel

/// An item as `--json` shows it, without its value.
struct ItemSummary: Encodable {
    var service: AttributeText?
    var account: AttributeText?
    var group: String
    /// Only where items with one name are told apart.
    var identifier: String?
    var label: AttributeText?
    var comment: AttributeText?
    var attributes: [String: String]?
    var accessible: String
    var requires: [String]?
    var synchronizable: Bool
    var expires: String?
    var expired: Bool?
    var keep: Int?
    var version: Int64
    var created: String
    var modified: String

    init(_ item: StoredItem) {
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
struct AttributeText: Encodable {
    private enum Keys: CodingKey { case base64 }

    let value: AttributeValue

    init(_ value: AttributeValue) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
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
    var forTerminal: String { plain.escapedForTerminal }

    /// The text as it is.
    var plain: String {
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
    var escapedForTerminal: String {
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
