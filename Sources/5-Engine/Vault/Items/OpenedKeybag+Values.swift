import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import SecureMemory
import VaultInterface

/// Opens the values in rows, with what each asks for beside its class key.
extension OpenedKeybag {
    /// The head of the seal in `row`; nil if the class key alone opens the value.
    ///
    /// - Throws: ``VaultError/corruptItem(row:reason:)`` if the item has a constraint that its seal knows
    ///   nothing of.
    func header(of row: ItemRow, _ accessControl: AccessControl) throws -> SealHeader? {
        let header: SealHeader?
        do {
            header = try SealedValue.header(of: row.value.seal)
        } catch {
            throw VaultError.corruptItem(row: row.binding.rowID, reason: error.reason)
        }
        if accessControl.flags?.contains(.applicationPassword) == true, header?.password == nil {
            throw VaultError.corruptItem(row: row.binding.rowID, reason: "it is not sealed under its password")
        }
        return header
    }

    /// The value in `row`, or nil when it has none; nil also where the class key alone does not open it and the
    /// operation only looks.
    ///
    /// - Parameter presence: Where the key comes from if the class key alone does not open the value.
    /// - Throws: ``VaultError/authenticationFailed`` for another application password than the item's.
    func openValue(of row: ItemRow, accessControl: AccessControl, _ presence: PresenceCheck) throws -> Data? {
        guard !row.value.seal.isEmpty, row.value.ciphertext != nil else { return nil }
        let classKey = try keys.classKey(for: row.binding.protection)
        let header = try header(of: row, accessControl)
        if header != nil, presence.isWaived { return nil }
        let wrappingKey = try header.map { try presence.wrappingKey(for: $0, classKey: classKey) } ?? classKey
        return try opening(row) { () throws(SealingError) in
            // Passed on at once: a copy with a name would keep the bytes from being wiped.
            let value = Data.wipedWhenFreed(
                try ItemSealer.open(
                    row.value, accessControl: accessControl, binding: row.binding, wrappingKey: wrappingKey))
            return header?.hasValue == false ? nil : value
        }
    }

    /// Opens all of `row` that the class key opens, to see that it is sound.
    ///
    /// - Returns: The item without its value, and whether more than the class key opens the value, which then was not
    ///   opened.
    func openChecked(_ row: ItemRow) throws -> (item: StoredItem, isSealedFurther: Bool) {
        let item = try openMetadata(of: row)
        let isSealedFurther = try header(of: row, item.accessControl) != nil
        _ = try openValue(of: row, accessControl: item.accessControl, .waived)
        return (item, isSealedFurther)
    }

    /// Makes sure that what an item is opened with is right, without opening it: its attributes are guarded too.
    func checkFactors(of row: ItemRow, accessControl: AccessControl, _ presence: PresenceCheck) throws {
        guard let header = try header(of: row, accessControl), !presence.isWaived else { return }
        let classKey = try keys.classKey(for: row.binding.protection)
        let wrappingKey = try presence.wrappingKey(for: header, classKey: classKey)
        try opening(row) { () throws(SealingError) in
            try ItemSealer.check(row.value.seal, wrappingKey: wrappingKey)
        }
    }

    private func opening<Result>(
        _ row: ItemRow, _ body: () throws(SealingError) -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            if error == .wrongFactor { throw VaultError.authenticationFailed }
            throw VaultError.corruptItem(row: row.binding.rowID, reason: error.reason)
        }
    }

    /// What `item` is to be sealed under beside its class key.
    ///
    /// - Parameter old: The row of the item it takes the place of, if both have the same access control.
    func factors(
        forSealing item: StoredItem, insteadOf old: ItemRow?, _ presence: PresenceCheck
    ) throws -> SealingFactors? {
        guard item.accessControl.isSealedFurther else { return nil }
        return try presence.factors(
            for: item.accessControl, hasValue: item.value != nil,
            insteadOf: try old.flatMap { try header(of: $0, item.accessControl) },
            classKey: keys.classKey(for: item.accessControl.protection))
    }

    /// Whether the operation may use the item in `row`; see ``PresenceCheck/permits(_:_:classKey:)``.
    func permits(_ item: StoredItem, in row: ItemRow, _ presence: PresenceCheck) throws -> Bool {
        guard item.accessControl.isConstrained else { return true }
        return try presence.permits(item.accessControl, try header(of: row, item.accessControl)) {
            try keys.classKey(for: item.accessControl.protection)
        }
    }
}
