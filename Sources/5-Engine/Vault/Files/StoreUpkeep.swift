import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Looks at the rows of an open vault as a whole, and removes or renews those that need it.
struct StoreUpkeep {
    let vault: OpenedVault

    /// Deletes the rows that nothing can open any more, because their keys are gone.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func deleteRows(where isLost: (RowBinding, ClassKeys) -> Bool) throws -> Int {
        try vault.writing(for: AccessGate.authorize(.removeUnreadable)) { writer, keybag in
            var lost: [ItemRow] = []
            try writer.reader.forEachRow { row in
                guard case .success(let row) = row, isLost(row.binding, keybag.keys) else { return }
                lost.append(row)
            }
            var lostVersions: [FormerPlace] = []
            try writer.reader.forEachFormerRow { place, former in
                guard case .success(let former) = former, isLost(former.row.binding, keybag.keys) else { return }
                lostVersions.append(place)
            }
            for row in lost { try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row)) }
            for place in lostVersions { try writer.deleteFormer(place) }
            // What is left of them comes back like a deleted item.
            for row in lost { try writer.endWithLastFormer(row.binding.rowID) }
            return lost.count
        }
    }

    /// Gives all rows that earlier software wrote the digests under the key that their class asks for, so that nobody
    /// guesses what is in them while the vault is locked. Other writers get their turns in between.
    ///
    /// Leaves out rows that cannot be opened. Does nothing if there are none, or while the vault is not unlocked.
    func renewOldDigests() throws {
        guard vault.keys.lockState == .unlocked else { return }
        let authorization = AccessGate.authorize(.renewDigests)
        var last: Int64? = .min
        while let start = last {
            let numbers = try vault.reading(for: authorization) { reader, _ in
                try reader.oldRows(after: start, limit: Self.rowsRenewedAtOnce)
            }
            last = numbers.last
            guard !numbers.isEmpty else { return }
            try vault.writing(for: authorization) { writer, keybag in
                let transaction = ItemTransaction(writer, keybag, .waived) { Date() }
                for number in numbers {
                    do {
                        try transaction.renewDigests(ofRow: number)
                    } catch is VaultError {
                        // Damaged, which a check of all items reports.
                    } catch is StoreError {
                    } catch KeybagError.noClassKey {
                    }
                }
            }
        }
    }

    /// Each transaction writes nearly all pages of the indexes, because digests are in no order.
    private static let rowsRenewedAtOnce = 16_384

    /// Does what ``renewOldDigests()`` does if the opening of the store has found old rows.
    func renewDigestsFoundAtOpening() throws {
        if vault.store.mayHaveOldRows { try renewOldDigests() }
    }

    /// Returns the number of items of each class in the groups that `authorization` covers.
    func itemCounts(for authorization: Authorization) throws(StoreError) -> [ItemClass: Int] {
        let keybag = vault.keybag
        let listings = keybag.groupDigests(in: authorization.scope).map { groups in
            Dictionary(uniqueKeysWithValues: ItemClass.stored.map { ($0, keybag.listings(of: $0, in: groups)) })
        }
        return try vault.store.counts(for: authorization, filedUnder: listings)
    }

    /// Returns the digests of all groups of which there is anything.
    func groups(for authorization: Authorization) throws -> [Int64] {
        try vault.reading(for: authorization) { reader, _ in try reader.groups() }
    }

    /// Returns what SQLite finds wrong with the file of the rows.
    func structuralProblems() throws(StoreError) -> [String] { try vault.store.structuralProblems() }
}
