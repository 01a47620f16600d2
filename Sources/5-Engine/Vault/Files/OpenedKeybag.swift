import Access
import Bytes
import CLibrary
import Crypto
import Enclave
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PreparedKeys
import PrivateFiles
import Sealing

/// The keys a vault works with at a moment; replaced as a whole by an erase, a change of the passcode, and a
/// reload after another process has done either.
final class OpenedKeybag: Sendable {
    let identifier: UUID
    /// Which file the keybag was read from; nil for a vault in memory.
    let file: FileVersion?
    let keys: ClassKeys
    /// The digests of items that need no unlocking, and of access groups.
    let index: IndexKey
    /// The digests of items that need an unlocking, once that was asked for.
    private let closed = UnfairMutex<IndexKey?>(nil)
    /// What authenticates the audit log, once that was asked for.
    private let seal = UnfairMutex<AuditKey?>(nil)
    /// By the bytes of the name: names that Swift takes for equal have digests of their own.
    private let groups = UnfairMutex<[[UInt8]: Int64]>([:])
    /// The class keys before they were renewed, once that was asked for.
    private let former = UnfairMutex<FormerKeys?>(nil)
    private let loadFormer: @Sendable (ClassKeys) throws -> FormerKeys?

    /// - Parameters:
    ///   - file: Which file the keybag was read from; nil for a vault in memory.
    ///   - loadFormer: Reads the class keys that the vault had before they were renewed; returns nil if there are none.
    init(
        _ keys: ClassKeys, file: FileVersion? = nil,
        former loadFormer: @escaping @Sendable (ClassKeys) throws -> FormerKeys? = { _ in nil }
    ) {
        self.file = file
        self.loadFormer = loadFormer
        identifier = keys.keybag.identifier
        self.keys = keys
        index = IndexKey(keys.indexKey)
    }

    /// The class keys that the vault had before they were renewed.
    ///
    /// - Throws: ``VaultError/corruptVault(reason:)`` if their file was changed.
    func formerKeys() throws -> FormerKeys {
        try former.withLock { known in
            if let known { return known }
            let loaded = try loadFormer(keys) ?? FormerKeys(of: identifier)
            known = loaded
            return loaded
        }
    }

    /// Takes over the class keys before these from a backup.
    func adopt(_ keys: FormerKeys) { former.withLock { $0 = keys } }

    /// The keys of the vault when it had the keybag with this identifier; nil if it never had.
    func before(_ identifier: UUID) throws -> OpenedKeybag? {
        if identifier == self.identifier { return self }
        let former = try formerKeys()
        let enclave = try SoftwareEnclave()
        guard let keybag = try former.restored(identifier, under: keys, in: enclave) else { return nil }
        let keys = try ClassKeys(keybag, in: enclave)
        let before = OpenedKeybag(keys)
        before.adopt(try former.rewrapped(from: self.keys, under: keys))
        return before
    }

    /// Returns the first result of `open` with the present class key of `protection` or a former one, the latest first.
    ///
    /// - Parameter open: Returns nil for another key than the one that is needed.
    /// - Returns: Nil if no key was the right one.
    /// - Throws: ``KeybagError/locked(_:)``, and what `open` throws.
    func opened<Result>(
        by protection: ProtectionClass, _ open: (SymmetricKey) throws -> Result?
    ) throws -> Result? {
        if let result = try open(keys.classKey(for: protection)) { return result }
        let former = try formerKeys()
        for keybag in former.keybags {
            if let key = try former.key(of: protection, in: keybag, under: keys), let result = try open(key) {
                return result
            }
        }
        return nil
    }

    /// What authenticates the audit log; nil when the 'always' class has no key.
    var auditSeal: AuditKey? {
        seal.withLock { seal in
            if seal == nil, let key = try? keys.auditKey { seal = AuditKey(key, of: identifier) }
            return seal
        }
    }

    /// The digests of items that need an unlocking; nil before the first.
    var closedIndex: IndexKey? {
        guard keys.lockState.permits(.afterFirstUnlock) else { return nil }
        return closed.withLock { known in
            if known == nil, let key = try? keys.closedIndexKey { known = IndexKey(key) }
            return known
        }
    }

    /// The digests of items of a class.
    ///
    /// - Throws: ``KeybagError/locked(_:)`` before the first unlocking, if the class needs one.
    func index(of protection: ProtectionClass) throws(KeybagError) -> IndexKey {
        guard protection.isClosed else { return index }
        guard let closedIndex else { throw .locked(protection) }
        return closedIndex
    }

    /// What anchors the audit log; nil until the vault is unlocked.
    var auditAnchorSeal: AuditKey? { (try? keys.auditAnchorKey).map { AuditKey($0, of: identifier) } }

    /// The digest of an access group; a program names the same few again and again.
    func groupDigest(_ group: String) -> Int64 {
        groups.withLock { known in
            let name = Array(group.utf8)
            if let digest = known[name] { return digest }
            if known.count >= 256 { known.removeAll() }
            let digest = index.group(group)
            known[name] = digest
            return digest
        }
    }

    /// The digests of the access groups in `scope`, each once; nil for all groups.
    func groupDigests(in scope: GroupScope) -> [Int64]? {
        switch scope {
        case .every: return nil
        case .only(let names):
            if names.count == 1 { return [groupDigest(names[0])] }
            var seen: Set<Int64> = []
            return names.map(groupDigest).filter { seen.insert($0).inserted }
        }
    }

    /// What every item of a class is filed under in the groups with these digests, under one of two terms for each.
    func listings(of itemClass: ItemClass, in groups: [Int64]) -> [Filing] {
        groups.flatMap { group in
            [false, true].map { Filing(index.listing(itemClass, group: group, isClosed: $0), in: group) }
        }
    }

    /// Makes sure that a search without ``closedIndex`` overlooks no item. Call it for each such search, even if there
    /// was an unlocking meanwhile.
    ///
    /// - Parameter groups: The digests of the groups in which the item may be; nil for all.
    /// - Throws: ``KeybagError/locked(_:)`` if there is any item of the class that needs an unlocking.
    func checkSearchable(_ itemClass: ItemClass, in groups: [Int64]?, _ reader: ItemStore.Reader) throws {
        let isThere =
            if let groups {
                try reader.hasRow(
                    filedUnder: groups.map { Filing(index.listing(itemClass, group: $0, isClosed: true), in: $0) })
            } else {
                try reader.hasClosedRow(itemClass)
            }
        if isThere { throw KeybagError.locked(.afterFirstUnlock) }
    }
}

/// The key of a keybag's audit log.
struct AuditKey: AuditSeal {
    let identifier: UUID
    private let key: PreparedHMAC

    init(_ key: SymmetricKey, of keybag: UUID) {
        identifier = keybag
        self.key = PreparedHMAC(key)
    }

    func tag(of message: Data) -> Data { key.authenticate(Array(message)) { Data($0) } }

    /// The first 8 bytes of the tag of `message`.
    func number(of message: [UInt8]) -> UInt64 { key.authenticate(message) { $0.bigEndian() } }
}
