import Bytes
import Foundation
import KeychainModel

extension KeychainItem {
    init(_ item: StoredItem) {
        id = item.identifier
        account = item.text(.account) ?? ""
        target =
            item.itemClass == .internetPassword
            ? .server(InternetServer(item)) : .service(item.text(.service) ?? "")
        attributes = Attributes(item)
        accessGroup = item.accessGroup
        accessibility = Keychain.Accessibility(item.accessControl.protection)
        accessControl = item.accessControl.flags.map { Keychain.AccessControl(rawValue: $0.rawValue) }
        isSynchronizable = item.isSynchronizable
        creationDate = item.creationDate
        modificationDate = item.modificationDate
        expirationDate = item.expiry.date
        version = Int(clamping: item.version)
        data = item.value
    }
}

extension KeychainItem.Attributes {
    init(_ item: StoredItem) {
        self.init(
            label: item.text(.label), comment: item.text(.comment), itemDescription: item.text(.itemDescription),
            generic: item.bytes(.generic), creator: item.number(.creator).map(UInt32.init(truncatingIfNeeded:)),
            type: item.number(.type).map(UInt32.init(truncatingIfNeeded:)),
            isInvisible: item.number(.isInvisible).map { $0 != 0 },
            isNegative: item.number(.isNegative).map { $0 != 0 },
            custom: item.customAttributes.isEmpty ? nil : item.customAttributes,
            expiry: item.expiry.date.map(KeychainItem.Expiry.at),
            keep: item.kept.count.map(KeychainItem.KeptVersions.versions))
    }

    /// The attributes that are set, by their names in the schema, without the custom ones.
    var named: ItemAttributes {
        var named: ItemAttributes = [:]
        named[.label] = label.map(AttributeValue.string)
        named[.comment] = comment.map(AttributeValue.string)
        named[.itemDescription] = itemDescription.map(AttributeValue.string)
        named[.generic] = generic.map(AttributeValue.data)
        named[.creator] = creator.map { .number(Int64($0)) }
        named[.type] = type.map { .number(Int64($0)) }
        named[.isInvisible] = isInvisible.map { .number($0 ? 1 : 0) }
        named[.isNegative] = isNegative.map { .number($0 ? 1 : 0) }
        return named
    }
}

extension KeychainItem.Expiry {
    /// The same for the vault.
    var stored: Expiry {
        switch self {
        case .never: .never
        case .at(let date): .at(date)
        }
    }
}

extension KeychainItem.KeptVersions {
    /// The same for the vault.
    var stored: KeptVersions {
        switch self {
        case .vaultDefault: .vaultDefault
        case .versions(let count): .atMost(count)
        }
    }
}

extension AttributeName {
    static let creator: AttributeName = "crtr"
    static let isInvisible: AttributeName = "invi"
    static let isNegative: AttributeName = "nega"
}

extension StoredItem {
    /// An attribute as text, whatever type the program that stored it gave it; nil for numbers.
    func text(_ name: AttributeName) -> String? {
        switch attribute(name) {
        case .string(let string): string
        case .data(let data): String(decoding: data, as: UTF8.self)
        default: nil
        }
    }

    func bytes(_ name: AttributeName) -> Data? {
        switch attribute(name) {
        case .string(let string): Data(string.utf8)
        case .data(let data): data
        default: nil
        }
    }

    func number(_ name: AttributeName) -> Int64? {
        if case .number(let number) = attribute(name) { number } else { nil }
    }
}
