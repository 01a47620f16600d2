import Foundation
import KeychainModel

/// An item of a keychain: its attributes and, where it was asked for, its value.
///
/// Printing, dumping or reflecting an item never shows its value.
///
/// ```swift
/// for item in try keychain.items() {
///     print(item.account, item.modificationDate)
/// }
/// ```
public struct KeychainItem: Sendable, Hashable, Identifiable {
    /// Stays the same for the life of the item, whatever else changes.
    public let id: UUID
    /// The account (`kSecAttrAccount`). Bytes that another program stored and that are not UTF-8 read as
    /// replacement characters.
    public let account: String
    /// The service or server.
    public let target: Keychain.Target
    /// The attributes a program may set freely.
    public let attributes: Attributes
    /// The access group (`kSecAttrAccessGroup`).
    public let accessGroup: String
    /// When the item can be read (`kSecAttrAccessible`).
    public let accessibility: Keychain.Accessibility
    /// What else must hold before the value is handed out; nil for nothing (`kSecAttrAccessControl`).
    public let accessControl: Keychain.AccessControl?
    /// Whether the item is synchronizable (`kSecAttrSynchronizable`).
    public let isSynchronizable: Bool
    /// When the item was stored first (`kSecAttrCreationDate`).
    public let creationDate: Date
    /// When the item was changed last; grows with each change (`kSecAttrModificationDate`).
    public let modificationDate: Date

    /// When the item expires or expired; nil if it does not.
    public let expirationDate: Date?
    /// The version of the item: 1 when it is stored first, and one more with each change of its value or attributes.
    public let version: Int

    let data: Data?

    /// Whether the item was read with its value.
    public var hasValue: Bool { data != nil }

    /// The value; nil if the item has none or was read without it.
    ///
    /// - Throws: ``KeychainError/Code/undecodableValue`` when it is not a `Value`.
    public func value<Value: KeychainValue>(as type: Value.Type = Value.self) throws -> Value? {
        guard let data else { return nil }
        return try Value(keychainData: data)
    }

    /// What a program may say about an item besides its value. None of it is secret, although the vault
    /// keeps it sealed. Attributes that are nil are left as they are when an item is stored or changed.
    public struct Attributes: Sendable, Hashable {
        /// The name a person sees (`kSecAttrLabel`).
        public var label: String?
        /// A remark of the user's (`kSecAttrComment`).
        public var comment: String?
        /// The kind of item in words, such as "mail password" (`kSecAttrDescription`).
        public var itemDescription: String?
        /// Anything of the program's own (`kSecAttrGeneric`). Generic passwords only; not part of what
        /// tells items apart.
        public var generic: Data?
        /// The four-character code of the program that made the item (`kSecAttrCreator`).
        public var creator: UInt32?
        /// The four-character code of the kind of item (`kSecAttrType`).
        public var type: UInt32?
        /// Whether lists for people should leave the item out (`kSecAttrIsInvisible`).
        public var isInvisible: Bool?
        /// Whether there is no valid password, and a person should be asked each time
        /// (`kSecAttrIsNegative`).
        public var isNegative: Bool?
        /// Attributes under names of the program's own choice, by which `Keychain.items(withCustom:includingValues:)`
        /// finds items. Those given are all that the item has afterwards. At most 64, with names of 1 to 255 and values
        /// of at most 8,192 bytes of UTF-8. Apple's keychain has none, and `SecItem` functions do not show them.
        public var custom: [String: String]?
        /// Until when the value is read. A new value without it ends an expiry that is over.
        public var expiry: Expiry?
        /// How many former versions of the item the vault keeps. See `Keychain.history(of:)`.
        public var keep: KeptVersions?

        /// Attributes, of which those not given are nil.
        public init(
            label: String? = nil, comment: String? = nil, itemDescription: String? = nil, generic: Data? = nil,
            creator: UInt32? = nil, type: UInt32? = nil, isInvisible: Bool? = nil, isNegative: Bool? = nil,
            custom: [String: String]? = nil, expiry: Expiry? = nil, keep: KeptVersions? = nil
        ) {
            self.label = label
            self.comment = comment
            self.itemDescription = itemDescription
            self.generic = generic
            self.creator = creator
            self.type = type
            self.isInvisible = isInvisible
            self.isNegative = isNegative
            self.custom = custom
            self.expiry = expiry
            self.keep = keep
        }
    }
}

extension KeychainItem {
    /// Until when the value of an item is read.
    ///
    /// Afterwards the item is still listed, can be changed and deleted, and counts as a duplicate. Reading its value
    /// throws ``KeychainError/Code/itemExpired``, unless the keychain reads expired items
    /// (``Keychain/readsExpiredItems``). `SecItemCopyMatching` says `errSecItemNotFound`.
    public enum Expiry: Sendable, Hashable {
        case never
        case at(Date)

        /// So long from now.
        public static func after(_ duration: Duration) -> Expiry {
            .at(Date(timeIntervalSinceNow: duration / .seconds(1)))
        }
    }
}

extension KeychainItem {
    /// How many former versions of an item the vault keeps.
    ///
    /// Each change of the value makes the value before it a former version, and so does a deletion. A change of
    /// attributes alone does not.
    public enum KeptVersions: Sendable, Hashable {
        /// As many as the vault's owner has chosen for all items: none unless somebody has chosen.
        case vaultDefault
        /// This many: 0 to 1,000.
        case versions(Int)
    }
}

extension KeychainItem: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The class and the dates, without account, attributes or value.
    public var description: String {
        let kind =
            switch target {
            case .service: "generic password"
            case .server: "internet password"
            }
        return "\(kind) \(id), \(accessibility), modified \(modificationDate)"
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The attributes, and in place of the value only whether there is one.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "id": id, "account": account, "target": target, "attributes": attributes, "accessGroup": accessGroup,
                "accessibility": accessibility, "isSynchronizable": isSynchronizable, "creationDate": creationDate,
                "modificationDate": modificationDate, "hasValue": hasValue,
            ], displayStyle: .struct)
    }
}
