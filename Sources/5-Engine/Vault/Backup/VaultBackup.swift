import Access
import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import Synchronization
import VaultInterface

/// Makes backups of the vault, and restores those that only this vault opens.
final class VaultBackup: BackupMaking {
    private let vault: OpenedVault
    private let gate: VaultGate
    private let now: @Sendable () -> Date
    private let isRunning = Atomic(false)

    init(_ vault: OpenedVault, _ gate: VaultGate, now: @escaping @Sendable () -> Date) {
        self.vault = vault
        self.gate = gate
        self.now = now
    }

    func make(_ operation: MakeBackup, as client: Client, send: Sink<Data>) throws(VaultError) -> BackupSummary {
        let authorization = try gate.authorize(
            AccessRequest(.backup, isAboutWholeVault: true), as: client, recordedAs: .backedUp)
        return try gate.run(authorization, asking: .init(), items: \.items) { _ in
            // To have the rows of one moment, a backup keeps a connection while it waits for its turn and for its
            // reader. Only one does, so that others always find a connection.
            guard !isRunning.exchange(true, ordering: .acquiring) else { throw VaultError.busy }
            defer { isRunning.store(false, ordering: .releasing) }
            return try vault.reading(for: authorization) { reader, keybag in
                try write(head(operation.seal, keybag), reader, keybag, send)
            }
        }
    }

    private func head(_ seal: BackupSeal, _ keybag: OpenedKeybag) throws -> BackupHead {
        let kind: BackupHead.Seal
        switch seal {
        case .password(let stretched, let salt, let cost):
            let key = try RecoveryKey(stretched: stretched)
            let record = try RecoveryRecord.make(of: keybag.keys, under: key).encoded(under: key)
            kind = .password(salt: salt, cost: cost, record: record)
        case .recoveryKey: kind = .recoveryKey(record: try recoveryRecord(of: keybag))
        case .thisVault: kind = .thisVault
        }
        return BackupHead(
            keybag: keybag.identifier, time: Int64(clamping: now().timeIntervalSince1970 * 1_000),
            salt: Data([UInt8].random(count: BackupHead.saltSize)), seal: kind)
    }

    private func recoveryRecord(of keybag: OpenedKeybag) throws -> Data {
        guard let folder = vault.folder?.folder, folder.contains(VaultFolder.recoveryName) else {
            throw VaultError.invalidRequest(
                reason: "the vault has no recovery key: make one with `keychain recovery create`, or choose a "
                    + "password for the backup")
        }
        let record = try folder.read(VaultFolder.recoveryName, limit: RecoveryRecord.largestEncoding)
        guard RecoveryRecord.keybag(of: record) == keybag.identifier else {
            throw VaultError.unusableVault(
                reason: "\(folder.path(of: VaultFolder.recoveryName)) belongs to another vault, or is damaged: make a "
                    + "new recovery key with `keychain recovery create`")
        }
        return record
    }

    private func write(
        _ head: BackupHead, _ reader: ItemStore.Reader, _ keybag: OpenedKeybag,
        _ send: Sink<Data>
    ) throws -> BackupSummary {
        var writer = BackupWriter(head, classKey: try keybag.keys.classKey(for: .always))
        let classes = Set(head.classes)
        var (summary, visited, count) = (BackupSummary(), 0, UInt64(0))
        let former = try keybag.formerKeys()
        if !former.keybags.isEmpty {
            let encoded = former.encoded(under: try keybag.keys.classKey(for: .always))
            try writer.write(Data([4] + UInt32(truncatingIfNeeded: encoded.count).bigEndianBytes) + encoded, send)
        }
        try reader.forEachRow { row in
            visited += 1
            if visited.isMultiple(of: Self.slice) { try CurrentCall.served?.giveWay() }
            guard case .success(let row) = row else {
                summary.damaged += 1
                return
            }
            let item = row.binding.isTombstone ? 0 : 1
            guard classes.contains(row.binding.protection) else {
                summary.leftOut += item
                return
            }
            summary.items += item
            count += 1
            try writer.write(Data([1]) + BackupRow(row).encoded, send)
        }
        try reader.forEachFormerRow { _, former in
            visited += 1
            if visited.isMultiple(of: Self.slice) { try CurrentCall.served?.giveWay() }
            guard case .success(let former) = former else {
                summary.damaged += 1
                return
            }
            guard classes.contains(former.row.binding.protection) else { return }
            count += 1
            try writer.write(Data([former.end == .deleted ? 3 : 2]) + BackupRow(former.row).encoded, send)
        }
        try writer.write(Data([0] + count.bigEndianBytes), send)
        try writer.finish(send)
        return summary
    }

    /// The number of rows after which a backup lets others go first.
    private static let slice = 64

    // MARK: Backups that only this vault opens

    func verify(_ backup: BackupReader, as client: Client) throws(VaultError) -> BackupSummary {
        let authorization = try gate.authorize(
            AccessRequest(.status, isAboutWholeVault: true), as: client, recordedAs: .inspected)
        return try gate.run(authorization) {
            var rows = try rows(of: backup, vault.keybag)
            while try rows.next() != nil {}
            return rows.summary
        }
    }

    private func rows(of backup: BackupReader, _ keybag: OpenedKeybag) throws -> BackupRows {
        guard backup.head.seal == .thisVault else {
            throw VaultError.invalidRequest(reason: "this backup is restored into a new vault, and not into this one")
        }
        guard let keybag = try keybag.before(backup.head.keybag) else {
            throw VaultError.invalidRequest(
                reason: "another vault made this backup, or this vault was erased since: nothing opens it here")
        }
        return try backup.rows(under: keybag)
    }

    /// Brings back the items of a backup that only this vault opens. An item that is there stays if it is as new as the
    /// one in the backup, or newer.
    ///
    /// - Parameter open: Begins to read the backup; it may be called more than once.
    func restore(
        _ open: () throws -> BackupReader, as client: Client
    ) throws(VaultError) -> BackupSummary {
        let authorization = try gate.authorize(
            AccessRequest(.restore, isAboutWholeVault: true), as: client, recordedAs: .restored)
        return try gate.run(authorization, asking: .init(), items: \.items) { presence in
            try vault.writing(for: authorization) { writer, keybag in
                var rows = try rows(of: open(), keybag)
                var leftOut = 0
                while let entry = try rows.next() {
                    // What was deleted stays deleted, and the vault has a history of its own.
                    guard case .row(var row, let item) = entry, !item.isTombstone else { continue }
                    if rows.keybag.identifier != keybag.identifier {
                        // The keys were renewed since.
                        guard let renewed = try keybag.renew(row, from: rows.keybag) else {
                            leftOut += 1
                            continue
                        }
                        row = renewed.row
                    }
                    guard try makeRoom(for: row, item, writer, keybag) else {
                        leftOut += 1
                        continue
                    }
                    try insert(row, item, writer, keybag, presence)
                }
                return BackupSummary(
                    items: rows.summary.items - leftOut, leftOut: leftOut, damaged: rows.summary.damaged)
            }
        }
    }

    /// Removes the rows that stand for the same item as `row` and are older.
    ///
    /// - Returns: False if one of them is as new or newer, and stays.
    private func makeRoom(
        for row: ItemRow, _ item: StoredItem, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws -> Bool {
        let searches = [
            ItemSearch(itemClass: item.itemClass, seek: .primaryKeys(keybag.primaryKeys(of: item)), isTombstone: nil),
            ItemSearch(
                itemClass: item.itemClass, seek: .filed(item.identifier.term), isTombstone: nil,
                identifier: item.identifier),
        ]
        let present = Set(try searches.flatMap { try writer.reader.rows($0, includingCiphertext: false) })
        for other in present {
            let existing = try keybag.openMetadata(of: other)
            guard existing.isTombstone || existing.modificationDate < item.modificationDate else { return false }
        }
        for other in present { try writer.delete(other.binding.rowID, filedUnder: keybag.filedTerms(of: other)) }
        return true
    }

    private func insert(
        _ row: ItemRow, _ item: StoredItem, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag,
        _ presence: PresenceCheck
    ) throws {
        writer.touched.note(item.accessGroup, of: row.binding.group)
        guard try writer.reader.hasRow(row.binding.rowID) else {
            return try writer.insert(row, filedUnder: Array(keybag.expectedFiling(of: row, item)))
        }
        // A row is sealed to its number. Another item has that number by now, so this one is sealed anew.
        var item = item
        item.value = try keybag.openValue(of: row, accessControl: item.accessControl, presence)
        let (sealed, filing) = try keybag.seal(item, presence, rowID: writer.nextRowID(), version: item.version)
        try writer.insert(sealed, filedUnder: filing)
    }
}
