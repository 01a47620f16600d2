import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Turns items into rows and rows into items.
extension OpenedKeybag {
    /// An item as a row, and the terms to file it under.
    ///
    /// - Parameters:
    ///   - old: The row of the item that it takes the place of, if both have the same access control.
    ///   - presence: What the value is sealed under beside the class key.
    ///   - version: The version of the item that the row is.
    func seal(
        _ item: StoredItem, insteadOf old: ItemRow? = nil, _ presence: PresenceCheck, rowID: Int64, version: Int64
    ) throws -> (row: ItemRow, filing: [Int64]) {
        let factors = try factors(forSealing: item, insteadOf: old, presence)
        let binding = try binding(of: item, rowID: rowID, version: version)
        let protection = item.accessControl.protection
        var sealed = SealedValue.none
        if let factors {
            sealed = try ItemSealer.seal(
                value: item.value ?? Data(), header: factors.header, accessControl: item.accessControl,
                binding: binding, wrappingKey: factors.wrappingKey)
        } else if let value = item.value {
            sealed = try ItemSealer.seal(
                value: value, accessControl: item.accessControl, binding: binding,
                wrappingKey: keys.classKey(for: protection))
        }
        let row = ItemRow(
            binding: binding,
            metadata: try ItemSealer.seal(
                metadata: encode(item), valueSeal: sealed.seal, binding: binding,
                cipher: keys.metadataCipher(for: protection)),
            value: sealed)
        return (row, try filing(of: item, binding: binding))
    }

    /// `row` with the attributes of `item`, its value untouched; only for changes that the value's
    /// binding does not cover.
    func resealMetadata(
        of row: ItemRow, as item: StoredItem, version: Int64
    ) throws -> (row: ItemRow, filing: [Int64]) {
        let binding = try binding(of: item, rowID: row.binding.rowID, version: version)
        var resealed = row
        resealed.binding = binding
        resealed.metadata = try ItemSealer.seal(
            metadata: encode(item), valueSeal: row.value.seal, binding: binding,
            cipher: keys.metadataCipher(for: item.accessControl.protection))
        return (resealed, try filing(of: item, binding: binding))
    }

    /// The item in `row`, without its value.
    func openMetadata(of row: ItemRow) throws -> StoredItem {
        let cipher = try keys.metadataCipher(for: row.binding.protection)
        let metadata: ItemMetadata
        do {
            metadata = try ItemSealer.open(
                metadata: row.metadata, valueSeal: row.value.seal, binding: row.binding, cipher: cipher
            ) { (bytes) throws(SealingError) in try ItemMetadata(decoding: bytes) }
        } catch {
            throw VaultError.corruptItem(row: row.binding.rowID, reason: error.reason)
        }
        var item = StoredItem(
            itemClass: row.binding.itemClass, identifier: row.binding.identifier, attributes: metadata.attributes,
            customAttributes: metadata.customAttributes, accessGroup: metadata.accessGroup,
            accessControl: AccessControl(protection: row.binding.protection, flags: metadata.accessControlFlags),
            isSynchronizable: row.binding.isSynchronizable, isTombstone: row.binding.isTombstone,
            creationDate: metadata.creationDate, modificationDate: metadata.modificationDate)
        item.expiry = metadata.expiry
        item.kept = metadata.kept
        item.version = row.binding.itemVersion
        return item
    }

    /// Returns the name of the group with a digest, from a row that can be opened; nil if there is none.
    func name(ofGroup group: Int64, _ reader: ItemStore.Reader) throws -> String? {
        var name: String?
        try reader.forEachRow(inGroup: group) { row in
            // Of what is locked or damaged, another row may tell it.
            guard let item = try? openMetadata(of: row), groupDigest(item.accessGroup) == group else { return true }
            name = item.accessGroup
            return false
        }
        return name
    }

    /// What a deleted synchronizable item leaves behind: its primary key and dates, no value.
    ///
    /// Sealed under the 'always' class, so that items can be deleted while they are locked; a locked
    /// item's attributes cannot be read and are then left out.
    func sealTombstone(
        for row: ItemRow, identifier: UUID, rowID: Int64, version: Int64, item: StoredItem?, now: Date
    ) throws -> (row: ItemRow, filing: [Int64]) {
        let binding = RowBinding(
            rowID: rowID, identifier: identifier, itemClass: row.binding.itemClass, protection: .always,
            isSynchronizable: true, isTombstone: true, group: row.binding.group, primaryKey: row.binding.primaryKey,
            terms: row.binding.terms, version: version)
        let schema = row.binding.itemClass.schema
        let metadata = ItemMetadata(
            accessControlFlags: nil, creationDate: item?.creationDate ?? now, modificationDate: now,
            accessGroup: item?.accessGroup ?? "",
            attributes: (item?.attributes ?? [:]).filter { schema[$0.key]?.isPrimaryKey ?? false })
        let sealed = try ItemSealer.seal(
            metadata: metadata.encoded(), valueSeal: Data(), binding: binding,
            cipher: keys.metadataCipher(for: .always))
        let tombstone = ItemRow(binding: binding, metadata: sealed, value: .none)
        return (tombstone, filing(ofTombstone: tombstone))
    }

    /// What a tombstone is filed under: what the item was, and the listing of those that need no unlocking.
    func filing(ofTombstone row: ItemRow) -> [Int64] {
        let listing = index.listing(row.binding.itemClass, group: row.binding.group, isClosed: false)
        return row.binding.terms + [listing, row.binding.identifier.term]
    }

    /// Every term that `row` may be filed under.
    func filedTerms(of row: ItemRow) -> [Int64] {
        let listings = listings(of: row.binding.itemClass, in: [row.binding.group]).map(\.term)
        return row.binding.terms + listings + [row.binding.identifier.term]
    }

    func primaryKey(of item: StoredItem) throws(KeybagError) -> Data {
        primaryKey(of: item, under: try index(of: item.accessControl.protection))
    }

    /// The digests that the primary key of `item` may have in the store: those under each key that is there.
    func primaryKeys(of item: StoredItem) -> [Data] { primaryKeys(of: item, closedIndex) }

    /// - Parameter closed: What ``closedIndex`` was at the beginning of the search.
    func primaryKeys(of item: StoredItem, _ closed: IndexKey?) -> [Data] {
        ([index, closed] as [IndexKey?]).compactMap { $0.map { primaryKey(of: item, under: $0) } }
    }

    private func primaryKey(of item: StoredItem, under index: IndexKey) -> Data {
        index.primaryKey(
            item.itemClass, accessGroup: item.accessGroup, isSynchronizable: item.isSynchronizable,
            attributes: item.attributes)
    }

    /// Returns the digest by which the audit log names an item; nil before the first unlocking.
    ///
    /// The digest is of the primary key without access group and synchronizability, so that service and account are
    /// enough to ask for it, also after the item was deleted. It is made with the audit key from the index key's
    /// digest: without the passcode, it says nothing of the item, and it does not lead to its row.
    func auditDigest(_ itemClass: ItemClass, _ attributes: ItemAttributes) -> UInt64? {
        closedIndex.flatMap { auditDigest(itemClass, attributes, under: $0) }
    }

    /// Returns the digest by which earlier software named an item.
    func formerAuditDigest(_ itemClass: ItemClass, _ attributes: ItemAttributes) -> UInt64? {
        auditDigest(itemClass, attributes, under: index)
    }

    private func auditDigest(
        _ itemClass: ItemClass, _ attributes: ItemAttributes, under index: IndexKey
    ) -> UInt64? {
        let key = index.primaryKey(itemClass, accessGroup: "", isSynchronizable: false, attributes: attributes)
        return auditSeal?.number(of: Array("item".utf8) + key)
    }

    private func encode(_ item: StoredItem) throws -> Data {
        guard item.accessGroup.utf8.count <= UInt16.max else {
            throw VaultError.attributesTooLarge(size: item.accessGroup.utf8.count, limit: Int(UInt16.max))
        }
        guard item.creationDate.isStorable, item.modificationDate.isStorable, item.expiry.isStorable,
            item.attributes.values.allSatisfy(\.isStorable)
        else { throw VaultError.invalidRequest(reason: Date.notStorable) }
        guard item.kept.isValid else {
            throw VaultError.invalidRequest(reason: "a vault keeps 0 to \(KeptVersions.largest) versions of an item")
        }
        guard item.accessControl.flags?.isSubset(of: .known) ?? true else {
            throw VaultError.invalidRequest(reason: "an access control with flags that this vault does not know")
        }
        let encoded = try ItemMetadata(
            accessControlFlags: item.accessControl.flags, creationDate: item.creationDate,
            modificationDate: item.modificationDate, accessGroup: item.accessGroup, attributes: item.attributes,
            customAttributes: item.customAttributes, expiry: item.expiry, kept: item.kept
        ).encoded()
        guard encoded.count <= ItemLimits.attributes else {
            throw VaultError.attributesTooLarge(size: encoded.count, limit: ItemLimits.attributes)
        }
        return encoded
    }

    private func binding(of item: StoredItem, rowID: Int64, version: Int64) throws(KeybagError) -> RowBinding {
        let index = try index(of: item.accessControl.protection)
        var terms: [Int64] = []
        let attributes = item.attributesWithDefaults
        for (name, value) in attributes { terms.append(index.term(name, value, in: item.itemClass)) }
        if let pair = index.lookup(item.itemClass, attributes) { terms.append(pair) }
        terms += index.terms(ofCustomAttributesOf: item)
        return RowBinding(
            rowID: rowID, identifier: item.identifier, itemClass: item.itemClass,
            protection: item.accessControl.protection, isSynchronizable: item.isSynchronizable,
            isTombstone: item.isTombstone, group: groupDigest(item.accessGroup),
            primaryKey: primaryKey(of: item, under: index), terms: terms.sorted(), version: version)
    }

    /// The terms that `row` has to be filed under.
    func expectedFiling(of row: ItemRow, _ item: StoredItem) throws(KeybagError) -> Set<Int64> {
        // A tombstone keeps the filing of the item that it was.
        row.binding.isTombstone
            ? [row.binding.identifier.term] : Set(try filing(of: item, binding: row.binding))
    }

    private func filing(of item: StoredItem, binding: RowBinding) throws(KeybagError) -> [Int64] {
        // Rows that earlier software wrote have all their digests under the key that needs no unlocking.
        let isClosed = binding.protection.isClosed && binding.version > 0
        let listing = index.listing(item.itemClass, group: binding.group, isClosed: isClosed)
        let index = isClosed ? try index(of: binding.protection) : index
        var terms = [listing, item.identifier.term]
        for name in item.itemClass.filedAttributes {
            if let value = item.attributes[name] { terms.append(index.term(name, value, in: item.itemClass)) }
        }
        if let pair = index.lookup(item.itemClass, item.attributesWithDefaults) { terms.append(pair) }
        return terms + index.terms(ofCustomAttributesOf: item)
    }
}

extension IndexKey {
    fileprivate func terms(ofCustomAttributesOf item: StoredItem) -> [Int64] {
        item.customAttributes.map { term(ofCustom: $0.key, $0.value, in: item.itemClass) }
    }
}

extension StoredItem {
    /// The attributes together with the defaults of those primary-key attributes that were never set.
    var attributesWithDefaults: ItemAttributes {
        var all = attributes
        for definition in itemClass.schema.primaryKey where !Self.fields.contains(definition.name) {
            if let value = definition.defaultValue, all[definition.name] == nil { all[definition.name] = value }
        }
        return all
    }

    private static let fields: Set<AttributeName> = [.accessGroup, .synchronizable]
}

extension ItemClass {
    /// The attributes worth filing rows under: those that tell items apart.
    var filedAttributes: [AttributeName] {
        switch self {
        case .genericPassword: [.service, .account, .label, .generic]
        case .internetPassword: [.server, .account, .label, .securityDomain]
        case .certificate: [.issuer, .serialNumber, .subject, .subjectKeyID, .publicKeyHash, .label]
        case .key: [.applicationLabel, .applicationTag, .label]
        case .identity: []
        }
    }
}

extension SealingError {
    /// The error in words that name no contents.
    var reason: String {
        switch self {
        case .authenticationFailed: "it does not verify"
        case .wrongFactor: "another password or enrolment is needed"
        case .malformed(let part): part
        }
    }
}
