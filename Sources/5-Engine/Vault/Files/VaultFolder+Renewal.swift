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
    /// Names the keybags before and after a renewal that is not complete. The renewing program holds `flock` on it.
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
        do {
            try mark.write(RenewalMark(from: former.identifier, to: next.keybag.identifier).encoded, at: 0)
            try mark.synchronize()
            try folder.synchronize()
            return (mark, try makeStore(for: next))
        } catch {
            // If this fails, the next opening does it.
            try? settleRenewal(former, isOwn: true)
            throw error
        }
    }

    /// The renewal that is not complete; nil if there is none, or if what names it was not written to its end.
    func unfinishedRenewal() throws -> RenewalMark? {
        guard folder.contains(Self.renewalName) else { return nil }
        do throws(FileError) {
            return RenewalMark(try folder.read(Self.renewalName, limit: 64))
        } catch .tooLarge {
            return nil
        }
    }

    /// Says in the mark that the new keys are in force. From then on, the former keybag is an older copy.
    func commitRenewal(_ mark: PrivateFile) throws {
        try mark.write(Data([1]), at: RenewalMark.size)
        try mark.synchronize()
    }

    /// Completes an interrupted renewal if its keybag is in force, and undoes any other. Removes no store before the
    /// store of the keybag in force was found whole.
    ///
    /// - Parameters:
    ///   - keybag: The keybag in force.
    ///   - isOwn: Whether the caller itself has begun the renewal, and gives it up.
    /// - Throws: ``VaultError/unusableVault(reason:)`` if the keybag in force is an older copy, or if its store is
    ///   missing.
    func settleRenewal(_ keybag: OpenedKeybag, isOwn: Bool = false) throws {
        guard folder.contains(Self.renewalName) else { return }
        guard let mark = try unfinishedRenewal() else { return try removeMark() }
        if keybag.identifier == mark.to { return try completeRenewal(from: mark.from, to: keybag.identifier) }
        if keybag.identifier == mark.from {
            guard !mark.isCommitted else {
                throw VaultError.unusableVault(
                    reason:
                        "\(folder.path(of: Self.keybagName)) is an older copy: the class keys were renewed since. Put "
                        + "back the newer one, or restore the vault from a backup")
            }
            try bringBackStore(of: keybag, from: mark.to)
        }
        // Another program is still renewing. It cleans up itself, also after an erase.
        guard try isOwn || Self.holds(PrivateFile(Self.renewalName, in: folder, creating: false)) else { return }
        try removeFiles(of: mark.to, exceptOf: keybag.identifier)
        try folder.remove(Self.renewalName)
    }

    /// Removes what is sealed under the former keys, once the new ones are in force: the recovery key first, which
    /// would bring the former keys back.
    func completeRenewal(from former: UUID, to present: UUID) throws {
        // The keybag was renamed; a failure of the disk may have kept the new name from it.
        try folder.synchronize()
        // One that cannot be read must not keep the vault from opening. Without the former store, it brings nothing
        // back.
        if (try? hasRecoveryKey(of: former)) == true { try folder.remove(Self.recoveryName) }
        try removeFiles(of: former, exceptOf: present)
        try folder.remove(Self.renewalName)
    }

    /// Removes the store and the former keys of a keybag, unless they have the names of those in force: the mark is not
    /// authenticated, and names are only the first half of an identifier.
    private func removeFiles(of keybag: UUID, exceptOf present: UUID) throws {
        guard Self.shortName(of: keybag) != Self.shortName(of: present) else { return }
        try removeStore(Self.storeName(of: keybag))
        try folder.remove(Self.formerKeysName(of: keybag))
    }

    /// Whether there is a recovery key that opens the class keys of a keybag.
    func hasRecoveryKey(of keybag: UUID) throws -> Bool {
        guard folder.contains(Self.recoveryName) else { return false }
        let record = try folder.read(Self.recoveryName, limit: RecoveryRecord.largestEncoding)
        return RecoveryRecord.keybag(of: record) == keybag
    }

    /// Makes sure that the keybag in force has its store. Reassigns the store to it, if the store was retired for the
    /// keybag that never replaced it.
    private func bringBackStore(of keybag: OpenedKeybag, from next: UUID) throws {
        let name = Self.storeName(of: keybag.identifier)
        guard folder.contains(name), try folder.size(of: name) > 0 else { throw missing(name) }
        let store = try ItemStore.examine(path: folder.path(of: name), key: keybag.keys.storeKey)
        defer { store.abandon() }
        let owner = try store.check()
        guard owner != keybag.identifier else { return }
        guard owner == next else { throw StoreError.otherKeybag }
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

/// What the mark of a renewal says:
///
///     offset  bytes  field
///          0     16  identifier of the keybag before
///         16     16  identifier of the keybag after
///         32      1  1 once the new keys are in force; until then missing
struct RenewalMark: Equatable {
    let from: UUID
    let to: UUID
    let isCommitted: Bool

    static let size = 32

    init(from: UUID, to: UUID) { (self.from, self.to, isCommitted) = (from, to, false) }

    /// Returns nil for anything that no renewal writes.
    init?(_ bytes: Data) {
        isCommitted = bytes.count == Self.size + 1 && bytes.last == 1
        guard bytes.count == Self.size || isCommitted else { return nil }
        from = Self.identifier(bytes.prefix(16))
        to = Self.identifier(bytes.dropFirst(16).prefix(16))
        guard from != to else { return nil }
    }

    var encoded: Data { [from, to].reduce(into: Data()) { $0 += withUnsafeBytes(of: $1.uuid) { Data($0) } } }

    private static func identifier(_ bytes: Data) -> UUID {
        bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
