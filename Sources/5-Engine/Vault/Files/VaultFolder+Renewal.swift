import Access
import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import VaultInterface

/// The files of a renewal of the class keys. The new keys exist only in memory until the keybag that has them is in its
/// place, which is the moment at which they come into force: after a kill before it, all is as it was. All for callers
/// that hold the folder's lock.
extension VaultFolder {
    /// Names the keybags before and after a renewal that is not complete: two identifiers of 16 bytes. Who renews the
    /// keys holds `flock` on it.
    static let renewalName = "renewal"

    /// The file with the class keys before those of `keybag`.
    static func formerKeysName(of keybag: UUID) -> String { formerKeysPrefix + shortName(of: keybag) }

    static let formerKeysPrefix = "former-keys-"

    /// Marks the folder for a renewal, and makes the item store of the new keybag.
    ///
    /// - Returns: What keeps others from renewing the keys as long as it is there, and the store.
    /// - Throws: ``VaultError/busy`` if another program renews them.
    func beginRenewal(of former: OpenedKeybag, to next: ClassKeys) throws -> (mark: PrivateFile, store: ItemStore) {
        try settleRenewal(former)
        let mark = try PrivateFile(Self.renewalName, in: folder, creating: true)
        guard try Self.holds(mark) else { throw VaultError.busy }
        try mark.write(Self.bytes(former.identifier) + Self.bytes(next.keybag.identifier), at: 0)
        try mark.synchronize()
        try folder.synchronize()
        return (mark, try makeStore(for: next))
    }

    /// Goes on from where a renewal was killed: completes one whose keybag is in force, and undoes any other.
    ///
    /// - Parameters:
    ///   - keybag: The keybag in force.
    ///   - isOwn: Whether the caller itself has begun the renewal, and gives it up.
    func settleRenewal(_ keybag: OpenedKeybag, isOwn: Bool = false) throws {
        guard folder.contains(Self.renewalName) else { return }
        let names = try folder.read(Self.renewalName, limit: 64)
        guard names.count == 32 else { return try removeMark() }
        let (from, to) = (Self.identifier(names.prefix(16)), Self.identifier(names.suffix(16)))
        // No renewal writes that, and the store in force must not be taken for one that is to go.
        guard from != to else { return try removeMark() }
        if keybag.identifier == to { return try completeRenewal(from: from) }
        if keybag.identifier == from { try bringBackStore(of: keybag, from: to) }
        // A renewal that goes on, or one whose vault was erased meanwhile, which then ends itself.
        guard try isOwn || Self.holds(PrivateFile(Self.renewalName, in: folder, creating: false)) else { return }
        try removeStore(Self.storeName(of: to))
        try folder.remove(Self.formerKeysName(of: to))
        try folder.remove(Self.renewalName)
    }

    /// Removes what is sealed under the former keys, once the new ones are in force.
    func completeRenewal(from former: UUID) throws {
        try removeStore(Self.storeName(of: former))
        try folder.remove(Self.formerKeysName(of: former))
        if try hasRecoveryKey(of: former) { try folder.remove(Self.recoveryName) }
        try folder.remove(Self.renewalName)
    }

    /// Whether there is a recovery key that opens the class keys of a keybag.
    func hasRecoveryKey(of keybag: UUID) throws -> Bool {
        guard folder.contains(Self.recoveryName) else { return false }
        let record = try folder.read(Self.recoveryName, limit: RecoveryRecord.largestEncoding)
        return RecoveryRecord.keybag(of: record) == keybag
    }

    /// Takes back that the store of the keybag in force was given up for that of another, which did not come into
    /// force. Only who holds the folder's lock puts one in force.
    private func bringBackStore(of keybag: OpenedKeybag, from next: UUID) throws {
        let name = Self.storeName(of: keybag.identifier)
        guard folder.contains(name), try folder.size(of: name) > 0 else { return }
        let store = try ItemStore.examine(path: folder.path(of: name), key: keybag.keys.storeKey)
        defer { store.abandon() }
        guard try store.check() == next else { return }
        try store.write(for: AccessGate.authorize(.renewKeys)) { try $0.retire(for: keybag.identifier) }
    }

    private func removeMark() throws {
        guard try Self.holds(PrivateFile(Self.renewalName, in: folder, creating: false)) else { return }
        try folder.remove(Self.renewalName)
    }

    /// Returns whether nobody else holds the mark.
    private static func holds(_ mark: PrivateFile) throws(FileError) -> Bool {
        do throws(FileError) {
            try mark.lock(deadline: .zero)
            return true
        } catch .lockTimeout {
            return false
        }
    }

    private static func bytes(_ identifier: UUID) -> Data { withUnsafeBytes(of: identifier.uuid) { Data($0) } }

    private static func identifier(_ bytes: Data) -> UUID {
        bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    // MARK: Former keys

    /// Returns the class keys before those of an open keybag; nil if they were never renewed.
    func readFormerKeys(_ keys: ClassKeys) throws -> FormerKeys? {
        let name = Self.formerKeysName(of: keys.keybag.identifier)
        guard folder.contains(name) else { return nil }
        let encoded = try folder.read(name, limit: FormerKeys.largestEncoding)
        do throws(KeybagError) {
            return try FormerKeys(
                decoding: encoded, of: keys.keybag.identifier, under: keys.classKey(for: .always))
        } catch {
            switch error {
            case .authenticationFailed, .malformed:
                throw VaultError.corruptVault(
                    reason:
                        "\(folder.path(of: name)) is damaged; copy it from a backup of the folder. Without it, items "
                        + "with a password or a fingerprint of their own, and files whose keys were not renewed, may "
                        + "not open")
            case .unknownVersion(let version):
                throw VaultError.corruptVault(
                    reason: "\(folder.path(of: name)) has format version \(version), which this version cannot read; "
                        + "update the software")
            default: throw error
            }
        }
    }

    func writeFormerKeys(_ former: FormerKeys, of keys: ClassKeys) throws {
        try folder.replace(
            Self.formerKeysName(of: keys.keybag.identifier),
            with: former.encoded(under: keys.classKey(for: .always)))
    }
}
