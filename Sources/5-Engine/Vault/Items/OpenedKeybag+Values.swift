import Bytes
import Crypto
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Opens the values in rows, with what each asks for beside its class key.
extension OpenedKeybag {
    /// The head of the seal in `row`; nil if the class key alone opens the value.
    ///
    /// - Throws: ``VaultError/corruptItem(row:reason:)`` if the item has a constraint that its seal knows
    ///   nothing of.
    private func header(of row: ItemRow, _ accessControl: AccessControl) throws -> SealHeader? {
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

    /// A row as it was sealed, and the class key under which it was.
    private struct Sealed {
        var row: ItemRow
        var classKey: SymmetricKey
    }

    /// A value that needs more than the class key stays sealed as it is when the class keys are renewed.
    private func sealed(_ row: ItemRow) throws -> Sealed {
        let classKey = try keys.classKey(for: row.binding.protection)
        guard
            let former = try opening(
                row,
                { () throws(SealingError) in
                    try FormerSeal(row.value.seal, under: classKey)
                })
        else { return Sealed(row: row, classKey: classKey) }
        guard let formerKey = try formerKeys().key(of: row.binding.protection, in: former.keybag, under: keys) else {
            throw VaultError.corruptItem(row: row.binding.rowID, reason: "the class key of its value is gone")
        }
        var sealed = row
        sealed.value.seal = former.seal
        sealed.binding.group = former.group
        return Sealed(row: sealed, classKey: formerKey)
    }

    /// The value in `row`, or nil when it has none; nil also where the class key alone does not open it and the
    /// operation only looks.
    ///
    /// - Parameter presence: Where the key comes from if the class key alone does not open the value.
    /// - Throws: ``VaultError/authenticationFailed`` for another application password than the item's.
    func openValue(of row: ItemRow, accessControl: AccessControl, _ presence: PresenceCheck) throws -> Data? {
        guard !row.value.seal.isEmpty, row.value.ciphertext != nil else { return nil }
        guard let header = try header(of: row, accessControl) else {
            let classKey = try keys.classKey(for: row.binding.protection)
            return try opening(row) { () throws(SealingError) in
                try ItemSealer.open(
                    row.value, accessControl: accessControl, binding: row.binding, wrappingKey: classKey)
            }
        }
        let sealed = try sealed(row)
        if presence.isWaived { return nil }
        let wrappingKey = try presence.wrappingKey(for: header, classKey: sealed.classKey)
        return try opening(row) { () throws(SealingError) in
            let value = try ItemSealer.open(
                sealed.row.value, accessControl: accessControl, binding: sealed.row.binding, wrappingKey: wrappingKey)
            return header.hasValue ? value : nil
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
        let sealed = try sealed(row)
        let wrappingKey = try presence.wrappingKey(for: header, classKey: sealed.classKey)
        try opening(row) { () throws(SealingError) in
            try ItemSealer.check(sealed.row.value.seal, wrappingKey: wrappingKey)
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
            insteadOf: try old.flatMap { try header(of: $0, item.accessControl, underPresentKey: presence) },
            classKey: keys.classKey(for: item.accessControl.protection))
    }

    /// The head of the seal in `row` for a new seal. The check of an enrolment is made with the class key, so that one
    /// under a former key is left out, to be made anew, if the enrolment is still the same. One of another enrolment
    /// stays, and matches none.
    private func header(
        of row: ItemRow, _ accessControl: AccessControl, underPresentKey presence: PresenceCheck
    ) throws -> SealHeader? {
        var header = try header(of: row, accessControl)
        if let enrolment = header?.enrolment {
            let sealed = try sealed(row)
            if sealed.row.value.seal != row.value.seal,
                try presence.matchesEnrolment(enrolment, classKey: sealed.classKey)
            {
                header?.enrolment = nil
            }
        }
        return header
    }

    /// Whether the operation may use the item in `row`; see ``PresenceCheck/permits(_:_:classKey:)``.
    func permits(_ item: StoredItem, in row: ItemRow, _ presence: PresenceCheck) throws -> Bool {
        guard item.accessControl.isConstrained else { return true }
        return try presence.permits(item.accessControl, try header(of: row, item.accessControl)) {
            try sealed(row).classKey
        }
    }

    // MARK: Renewing the keys

    /// Seals a row of the same vault under former keys for these keys.
    ///
    /// - Parameter former: Has the keys of the row.
    /// - Returns: The row with the terms to file it under; nil for what nobody can open any more: items of a class
    ///   without a key, and tombstones of items that were deleted while they were locked.
    /// - Throws: ``VaultError/corruptItem(row:reason:)``.
    func renew(_ row: ItemRow, from former: OpenedKeybag) throws -> (row: ItemRow, filing: [Int64])? {
        let protection = row.binding.protection
        guard former.keys.hasKey(for: protection), keys.hasKey(for: protection) else { return nil }
        let item = try former.openMetadata(of: row)
        guard !item.isTombstone || !item.accessGroup.isEmpty else { return nil }
        var renewed = row
        // The value is bound to it.
        renewed.binding.group = groupDigest(item.accessGroup)
        let (formerKey, classKey) = (try former.keys.classKey(for: protection), try keys.classKey(for: protection))
        let isSealedFurther = try header(of: row, item.accessControl) != nil
        let value = try former.openValue(of: row, accessControl: item.accessControl, .waived)
        try opening(row) { () throws(SealingError) in
            if isSealedFurther {
                let seal =
                    try FormerSeal(row.value.seal, under: formerKey)
                    ?? FormerSeal(keybag: former.identifier, group: row.binding.group, seal: row.value.seal)
                renewed.value.seal = try seal.stored(under: classKey)
            } else if let value {
                renewed.value = try ItemSealer.seal(
                    value: value, accessControl: item.accessControl, binding: renewed.binding, wrappingKey: classKey)
            }
        }
        let (sealed, filing) = try resealMetadata(of: renewed, as: item, version: row.binding.itemVersion)
        return (sealed, item.isTombstone ? self.filing(ofTombstone: sealed) : filing)
    }
}
