import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// A backup that is read from its beginning.
package struct BackupReader {
    package let head: BackupHead
    private let input: BackupInput

    /// Reads the head.
    ///
    /// - Throws: ``VaultError/corruptBackup(reason:)``, and what `input` throws.
    package init(_ input: @escaping BackupInput) throws {
        head = try BackupHead(input)
        self.input = input
    }

    /// Returns the class keys of the backup under a recovery key or a stretched password.
    func record(openedWith key: RecoveryKey) throws -> RecoveryRecord {
        let (encoded, secret) =
            switch head.seal {
            case .password(_, _, let record): (record, "the password is wrong")
            case .recoveryKey(let record):
                (record, "this is not the recovery key that the vault had when the backup was made")
            case .thisVault:
                throw VaultError.invalidRequest(reason: "only the vault that made this backup can restore it")
            }
        do {
            let record = try RecoveryRecord(decoding: encoded, with: key)
            guard record.keybag == head.keybag else { throw VaultError.corruptBackup(reason: "it names another vault") }
            return record
        } catch KeybagError.wrongRecoveryKey {
            throw VaultError.invalidRequest(reason: "\(secret), or the backup was changed")
        } catch KeybagError.malformed {
            throw VaultError.corruptBackup(reason: "its recovery record is damaged")
        }
    }

    /// Returns the rows, which are sealed under the keys of `keybag`.
    func rows(under keybag: OpenedKeybag) throws -> BackupRows {
        BackupRows(
            try BackupPlaintext(head, classKey: keybag.keys.classKey(for: .always), input), head, keybag)
    }
}

/// What a backup has of an item.
enum BackupEntry {
    /// A row, and the item in it without its value.
    case row(ItemRow, StoredItem)
    case former(FormerRow)
    /// The class keys before they were renewed, on which rows, and files elsewhere, may hang.
    case formerKeys(FormerKeys)
}

/// The rows of a backup, one after the other.
struct BackupRows {
    private var plaintext: BackupPlaintext
    private let format: UInt16
    /// Has the keys of the rows.
    let keybag: OpenedKeybag
    private let classes: Set<ProtectionClass>
    private var count: UInt64 = 0
    private var hasFormerKeys = false
    /// What was found so far.
    private(set) var summary = BackupSummary()

    init(_ plaintext: BackupPlaintext, _ head: BackupHead, _ keybag: OpenedKeybag) {
        self.plaintext = plaintext
        self.keybag = keybag
        format = head.version
        classes = Set(head.classes)
    }

    /// Returns the next row, or former version; nil after the last. Leaves out what was damaged when the backup was
    /// made.
    ///
    /// - Throws: ``KeybagError/locked(_:)`` if its class key is locked.
    mutating func next() throws -> BackupEntry? {
        while let kind = try plaintext.read(1).first, (1...(format == 1 ? 1 : 4)).contains(kind) {
            if kind == 4 {
                guard count == 0, !hasFormerKeys else {
                    throw VaultError.corruptBackup(reason: "its record of former keys is not at its start")
                }
                hasFormerKeys = true
                return .formerKeys(try readFormerKeys())
            }
            let row = try BackupRow(&plaintext, format: format).row
            count += 1
            guard classes.contains(row.binding.protection) else {
                throw VaultError.corruptBackup(reason: "it has items of a class that is in no such backup")
            }
            do {
                let item = try keybag.openChecked(row).item
                // Its numbers of changes were those of the vault that made the backup.
                if kind > 1 { return .former(FormerRow(row: row, ended: 0, end: kind == 3 ? .deleted : .replaced)) }
                if !item.isTombstone { summary.items += 1 }
                return .row(row, item)
            } catch VaultError.corruptItem {
                summary.damaged += 1
            }
        }
        guard UInt64(bigEndianBytes: try plaintext.read(8)) == count else {
            throw VaultError.corruptBackup(reason: "rows are missing")
        }
        try plaintext.finish()
        return nil
    }

    private mutating func readFormerKeys() throws -> FormerKeys {
        let size = Int(UInt32(bigEndianBytes: try plaintext.read(4)))
        guard size <= FormerKeys.largestEncoding else {
            throw VaultError.corruptBackup(reason: "its record of former keys is too long")
        }
        let alwaysKey = try keybag.keys.classKey(for: .always)
        do {
            let encoded = Data(try plaintext.read(size))
            let former = try FormerKeys(decoding: encoded, of: keybag.identifier, under: alwaysKey)
            keybag.adopt(former)
            return former
        } catch is KeybagError {
            throw VaultError.corruptBackup(reason: "its record of former keys is damaged")
        }
    }
}
