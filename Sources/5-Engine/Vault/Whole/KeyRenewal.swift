import Access
import Enclave
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import VaultInterface

/// New class keys for a vault, and an item store that is filled under them while the present one is in use.
///
/// The store is filled by comparing: each pass copies what the present store has and the new one has not, or not in
/// the same state. The first pass copies everything, the last one runs while nobody else can write.
struct KeyRenewal {
    /// The present keys, opened for this renewal alone, so that locking the vault does not close them.
    let former: OpenedKeybag
    /// The new keys. They are in an enclave in memory until ``Keybag/replaced(by:under:_:storeSequence:in:)``.
    let next: OpenedKeybag
    let store: ItemStore
    private let folder: VaultFolder
    private let mark: PrivateFile
    private let authorization: Authorization

    /// How many rows are copied in a transaction.
    private static let rowsAtOnce = 1_024

    /// - Parameter former: The present keybag, unlocked. The caller holds the folder's lock.
    init(of former: OpenedKeybag, in folder: VaultFolder, for authorization: Authorization) throws {
        self.former = former
        self.folder = folder
        self.authorization = authorization
        guard try former.formerKeys().keybags.count < FormerKeys.maximumCount else {
            throw VaultError.unsupported(
                reason: "the class keys were renewed \(FormerKeys.maximumCount) times, which is the most that a vault "
                    + "keeps; move the items to a new vault with `keychain send`")
        }
        let enclave = try SoftwareEnclave()
        var keybag = try Keybag.generate(in: enclave)
        try keybag.generateKey(for: .whenPasscodeSetThisDeviceOnly, in: enclave)
        next = OpenedKeybag(try ClassKeys(keybag, in: enclave))
        (mark, store) = try folder.beginRenewal(of: former, to: next.keys)
        try store.beginFilling()
    }

    /// Ends a renewal that failed: removes its store, or completes it if the new keys are in force already.
    func abandon() {
        store.abandon()
        // If this fails, the next opening does it.
        try? folder.folder.withLock { try folder.settleRenewal(folder.openKeybag(), isOwn: true) }
    }

    /// Copies what differs.
    ///
    /// - Parameters:
    ///   - reading: Runs its argument with a reader of the present store.
    ///   - compared: Told after each part how many rows were compared.
    /// - Returns: How many rows were copied or removed.
    func pass(
        _ reading: ((ItemStore.Reader) throws -> Void) throws -> Void, compared: (Int) throws -> Void = { _ in }
    ) throws -> Int {
        var changed = 0
        for isFormer in [false, true] {
            var place: RowState.Place? = .start
            while let start = place {
                var count = 0
                try reading { reader in
                    let states = try reader.states(former: isFormer, after: start, limit: Self.rowsAtOnce)
                    count = states.count
                    place = count == Self.rowsAtOnce ? states.last?.place : nil
                    changed += try copy(states, former: isFormer, after: start, to: place ?? .end, from: reader)
                }
                try compared(count)
            }
        }
        return changed
    }

    /// Gives the new store what the present one has between two places.
    private func copy(
        _ states: [RowState], former isFormer: Bool, after start: RowState.Place, to end: RowState.Place,
        from reader: ItemStore.Reader
    ) throws -> Int {
        try store.write(for: authorization, under: next.identifier) { writer in
            let copies = try writer.reader.states(former: isFormer, after: start, to: end)
            let (wanted, present) = (Set(states), Set(copies))
            var changed = 0
            for copy in copies where !wanted.contains(copy) {
                changed += 1
                if isFormer { try writer.removeFormerCopy(copy.place) } else { try remove(copy.place.row, writer) }
            }
            for state in states where !present.contains(state) {
                let isCopied =
                    isFormer ? try copyFormer(state.place, reader, writer) : try copy(state.place.row, reader, writer)
                if isCopied { changed += 1 }
            }
            return changed
        }
    }

    private func remove(_ number: Int64, _ writer: ItemStore.Writer) throws {
        guard let row = try writer.reader.row(number) else { return }
        try writer.removeCopy(row.binding, filedUnder: next.filedTerms(of: row))
    }

    private func copy(_ number: Int64, _ reader: ItemStore.Reader, _ writer: ItemStore.Writer) throws -> Bool {
        guard let row = try reader.row(number, includingCiphertext: true),
            let (renewed, filing) = try next.renew(row, from: former)
        else { return false }
        // The row may have changed again since its state was read.
        try remove(number, writer)
        if let other = try writer.reader.number(ofPrimaryKey: renewed.binding.primaryKey) {
            // A tombstone has the digests of the item that it was, and may get those of an item that took its place.
            if renewed.binding.isTombstone, try writer.reader.row(other)?.binding.isTombstone == false { return false }
            // Two items may have exchanged their primary keys. The other is copied again.
            try remove(other, writer)
        }
        try writer.copy(renewed, filedUnder: filing)
        return true
    }

    private func copyFormer(
        _ place: RowState.Place, _ reader: ItemStore.Reader, _ writer: ItemStore.Writer
    ) throws -> Bool {
        guard
            let version = try reader.formerRow(
                of: place.row, version: place.version, in: nil, includingCiphertext: true),
            let (renewed, _) = try next.renew(version.row, from: former)
        else { return false }
        try writer.removeFormerCopy(place)
        try writer.copy(FormerRow(row: renewed, ended: version.ended, end: version.end))
        return true
    }

    /// Makes the new store the one of the new keys, and gives up the present one. For the last pass, in a transaction
    /// of the present store.
    ///
    /// - Returns: The number of the last change.
    func complete(_ present: ItemStore.Writer) throws -> UInt64 {
        _ = try pass { try $0(present.reader) }
        try compare(with: present.reader)
        let sequence = try store.write(for: authorization, under: next.identifier) {
            try $0.completeCopy(of: present.reader)
        }
        try present.retire(for: next.identifier)
        return sequence
    }

    /// Makes sure that the new store has each item and each former version of the present one, and nothing else. Only
    /// tombstones, and what has no key any more, may be missing.
    private func compare(with present: ItemStore.Reader) throws {
        for isFormer in [false, true] {
            var place: RowState.Place? = .start
            while let start = place {
                let states = try present.states(former: isFormer, after: start, limit: Self.rowsAtOnce)
                place = states.count == Self.rowsAtOnce ? states.last?.place : nil
                let copies = try store.read(for: authorization, under: next.identifier) {
                    try $0.states(former: isFormer, after: start, to: place ?? .end)
                }
                for state in Set(states).symmetricDifference(copies) {
                    let row =
                        isFormer
                        ? try present.formerRow(
                            of: state.place.row, version: state.place.version, in: nil, includingCiphertext: false)?.row
                        : try present.row(state.place.row)
                    if let row, row.binding.isTombstone || !former.keys.hasKey(for: row.binding.protection) { continue }
                    throw VaultError.corruptVault(
                        reason: "item \(state.place.row) cannot be sealed under new keys, because another item has its "
                            + "name; delete one of the two, and renew the keys again")
                }
            }
        }
    }

    /// Makes sure that the mark and the new store are those of this renewal: another program that took the renewal for
    /// a killed one would have removed them.
    func checkIsInPlace() throws {
        let own = RenewalMark(from: former.identifier, to: next.identifier)
        guard try folder.unfinishedRenewal() == own, folder.folder.contains(VaultFolder.storeName(of: next.identifier))
        else { throw VaultError.busy }
    }

    /// Says on the disk that the new keys are in force.
    func commit() throws { try folder.commitRenewal(mark) }

    /// How many rows the new store has.
    func counts() throws -> (items: Int, formerVersions: Int) {
        try store.read(for: authorization, under: next.identifier) { reader in
            let items = try reader.counts { _ in true }.values.reduce(0, +)
            return (items, try reader.countOfRows() - items)
        }
    }
}
