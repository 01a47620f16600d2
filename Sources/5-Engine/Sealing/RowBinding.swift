import Bytes
import FoundationEssentials
import KeychainModel

/// The fields of a row that are readable without a key. Every sealed part is bound to them.
///
/// They are additional data of the AEAD. Nobody can therefore move a field to another row, class, access group or
/// protection unnoticed.
package struct RowBinding: Sendable, Hashable {
    package var rowID: Int64
    package var identifier: UUID
    package var itemClass: ItemClass
    package var protection: ProtectionClass
    package var isSynchronizable: Bool
    package var isTombstone: Bool
    /// The keyed digest of the access group.
    package var group: Int64
    /// The keyed digest of the primary key.
    package var primaryKey: Data
    /// The keyed digests of all searchable attributes, ascending.
    package var terms: [Int64]
    /// The version of the item, which is sealed into its attributes; 0 in a row from a store that had no versions.
    package var version: Int64

    /// - Parameter version: 0 for a row that an older store or backup holds.
    package init(
        rowID: Int64, identifier: UUID, itemClass: ItemClass, protection: ProtectionClass, isSynchronizable: Bool,
        isTombstone: Bool, group: Int64, primaryKey: Data, terms: [Int64], version: Int64
    ) {
        self.rowID = rowID
        self.identifier = identifier
        self.itemClass = itemClass
        self.protection = protection
        self.isSynchronizable = isSynchronizable
        self.isTombstone = isTombstone
        self.group = group
        self.primaryKey = primaryKey
        self.terms = terms
        self.version = version
    }

    /// The version of the item as people count it: a row without one is the first.
    package var itemVersion: Int64 { max(version, 1) }
    /// The version after this one. A row that nobody opened may name the highest number.
    package var nextVersion: Int64 { itemVersion < .max ? itemVersion + 1 : .max }

    /// Returns the additional data of the value: everything that stays the same when attributes change.
    func valueContext(accessControl: AccessControl) -> [UInt8] {
        var context: [UInt8] = []
        context.reserveCapacity(64)
        context.append(contentsOf: "value".utf8)
        // The same for rows of both versions: a value stays sealed as it is when its attributes get a later one.
        appendIdentity(Self.formatVersion, to: &context)
        context.append(accessControl.flags == nil ? 0 : 1)
        context.append(bigEndian: accessControl.flags?.rawValue ?? 0)
        return context
    }

    /// Returns the additional data of the attributes: the whole row, including the key, nonce and tag of the sealed
    /// value.
    func metadataContext(valueSeal: Data) -> [UInt8] {
        var context: [UInt8] = []
        context.reserveCapacity(168 + terms.count * 8)
        context.append(contentsOf: "attrs".utf8)
        appendIdentity(version == 0 ? Self.formatVersion : Self.versionedFormat, to: &context)
        if version != 0 { context.append(bigEndian: version) }
        context.append(isSynchronizable ? 1 : 0)
        context.append(isTombstone ? 1 : 0)
        context.append(contentsOf: primaryKey)
        context.append(bigEndian: UInt32(truncatingIfNeeded: terms.count))
        for term in terms { context.append(bigEndian: term) }
        context.append(contentsOf: valueSeal)
        return context
    }

    private func appendIdentity(_ format: UInt8, to context: inout [UInt8]) {
        context.append(format)
        context.append(itemClass.storedCode)
        context.append(protection.storedCode)
        context.append(bigEndian: rowID)
        withUnsafeBytes(of: identifier.uuid) { context.append(contentsOf: $0) }
        context.append(bigEndian: group)
    }

    /// The version of a sealed value, and of attributes that do not say which version of the item they are.
    package static let formatVersion: UInt8 = 1
    /// The version of attributes that do.
    package static let versionedFormat: UInt8 = 2
}
