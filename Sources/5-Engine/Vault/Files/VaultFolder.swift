import Audit
import Bytes
import Enclave
import FoundationEssentials
import Items
import Keybag
import PrivateFiles
import SecureMemory
import VaultInterface

/// The files of a vault and the order in which they come into being.
///
/// A vault is complete once its keybag exists; the device secret and the item store are made before
/// it. A folder with a keybag and without one of the others has lost something, and that is an error,
/// never a fresh start. Which item store belongs to a keybag is in the name of its file: replacing the keybag is the
/// moment at which another store comes into force.
struct VaultFolder: Sendable {
    static let deviceSecretName = "device-secret"
    /// The secret that an erase is about to put in the place of the old one.
    static let nextSecretName = "device-secret.next"
    /// The name of a counter that is made for a keybag which does not exist yet.
    static let nextCounterName = "counter.next"
    static let keybagName = "keybag"
    /// The keybag of a vault that is being made, until its item store is there.
    static let nextKeybagName = "keybag.next"
    static let recoveryName = "recovery"
    static let fileAgreementKeyName = "file-agreement-key"

    let folder: PrivateFolder
    let enclaves: EnclavePlace

    /// Opens the vault in the folder at `path`, or makes a new one in an empty or absent folder.
    ///
    /// - Parameters:
    ///   - kind: The kind of enclave of the vault; nil for the vault's present kind, or for software in a new vault.
    ///   - detectsRollback: Whether a new vault gets a counter.
    static func open(
        at path: String, in kind: EnclaveKind?, detectsRollback: Bool, enclaves: EnclavePlace
    ) throws -> OpenedVault {
        guard path.hasPrefix("/") else {
            throw VaultError.unusableVault(reason: "the vault's folder must be an absolute path, not '\(path)'")
        }
        let folder = try PrivateFolder(creating: path)
        let vault = VaultFolder(folder: folder, enclaves: enclaves)
        return try folder.withLock {
            folder.contains(keybagName)
                ? try vault.openExisting(expecting: kind)
                : try vault.create(in: kind ?? .software, detectsRollback: detectsRollback)
        }
    }

    /// The keybag as it is on disk now, opened. For callers that hold the folder's lock.
    func openKeybag() throws -> OpenedKeybag {
        try removeRemainsOfKilledReplacements()
        let encoded = try folder.read(Self.keybagName, limit: Keybag.largestEncoding)
        let enclave = try readEnclave(Self.deviceSecretName)
        do {
            let opened = try inUse(Keybag(decoding: encoded, in: enclave), in: enclave)
            // An erase that was killed before it replaced the keybag leaves a secret nobody uses.
            try folder.remove(Self.nextSecretName)
            // Nor does it need the name of a counter any more that it has itself.
            try folder.remove(Self.nextCounterName)
            return opened
        } catch KeybagError.authenticationFailed where folder.contains(Self.nextSecretName) {
            // An erase that was killed after it replaced the keybag.
            let next = try readEnclave(Self.nextSecretName)
            let opened = try inUse(Keybag(decoding: encoded, in: next), in: next)
            try folder.rename(Self.nextSecretName, to: Self.deviceSecretName)
            return opened
        }
    }

    /// A program that was killed while it replaced one of these files leaves the one that was to come: perhaps a keybag
    /// without a passcode, or under one that somebody knows.
    func removeRemainsOfKilledReplacements() throws {
        let names = [
            Self.keybagName, Self.nextKeybagName, Self.deviceSecretName, Self.nextSecretName, Self.nextCounterName,
            PasscodeGuard.fileName, Self.recoveryName, Self.fileAgreementKeyName,
        ]
        try folder.removeRemains { names.contains($0) || $0.hasPrefix(Self.formerKeysPrefix) }
    }

    /// Replaces device secret and keybag by fresh ones, so that neither the old rows nor copies of the old
    /// keybag can be opened again. For callers that hold the folder's lock.
    ///
    /// - Parameter sequence: A number above those of all changes so far, after which those of the new store go on.
    /// - Returns: The keybag, and why the disk may not have it; nil if it has.
    func replaceKeys(after sequence: UInt64) throws -> (keybag: OpenedKeybag, flush: FileError?) {
        let present = try completeErase(openKeybag()).keys
        let enclave = try makeEnclave(Self.nextSecretName, present.enclave.kind)
        let keybag = try Keybag.generate(
            in: enclave, replacing: present.keybag.identifier, counter: present.keybag.freshness?.counter.next
        ).knowing(storeSequence: max(sequence, present.keybag.storeSequence ?? 0))
        // It holds the keys that are to be destroyed.
        try folder.remove(Self.recoveryName)
        let flush = try replaceKeybagFile(with: keybag.encoded(in: enclave))
        try folder.rename(Self.nextSecretName, to: Self.deviceSecretName)
        // Whatever would still be wrapped for the key that is gone could never be opened.
        try folder.remove(Self.fileAgreementKeyName)
        try folder.remove(Self.formerKeysName(of: present.keybag.identifier))
        try folder.remove(AuditReader.anchorName)
        return (try inUse(keybag, in: enclave), flush)
    }

    /// Puts a keybag with the same class keys under another passcode in the place of the present one. For
    /// callers that hold the folder's lock.
    ///
    /// - Parameter keybag: If it has a counter, it is for the counter's next value.
    /// - Returns: The keybag, and why the disk may not have it; nil if it has.
    func replaceKeybag(
        with keybag: Keybag, in enclave: any Enclave
    ) throws -> (keybag: OpenedKeybag, flush: FileError?) {
        let flush = try replaceKeybagFile(with: keybag.encoded(in: enclave))
        return (try inUse(keybag, in: enclave), flush)
    }

    /// - Returns: Why the disk may not have the file that is in its place; nil if it has.
    private func replaceKeybagFile(with encoded: Data) throws(FileError) -> FileError? {
        do throws(FileError) {
            try folder.replace(Self.keybagName, with: encoded)
            return nil
        } catch {
            guard case .unflushed = error else { throw error }
            return error
        }
    }

    /// Opens a keybag that is in its file, unless it is older than one that was.
    func inUse(_ keybag: Keybag, in enclave: any Enclave) throws -> OpenedKeybag {
        try keybag.freshness?.counter.check(in: enclave)
        return try opened(keybag, in: enclave)
    }

    /// For callers that hold the folder's lock, so that the file is the one that `keybag` is in.
    private func opened(_ keybag: Keybag, in enclave: any Enclave) throws -> OpenedKeybag {
        OpenedKeybag(
            try ClassKeys(keybag, in: enclave), file: try folder.version(of: Self.keybagName), former: readFormerKeys)
    }

    private func openExisting(expecting kind: EnclaveKind?) throws -> OpenedVault {
        guard folder.contains(Self.deviceSecretName) else {
            throw missing(Self.deviceSecretName, isRecoverable: folder.contains(Self.recoveryName))
        }
        if let kind { try checkEnclave(is: kind) }
        var keybag = try openKeybag()
        let store = try openStore(of: &keybag)
        do {
            return try OpenedVault(store, keybag, in: self)
        } catch {
            store.abandon()
            throw error
        }
    }

    func missing(_ name: String, isRecoverable: Bool = false) -> VaultError {
        if name == Self.deviceSecretName, folder.isLocked("daemon") {
            return .unusableVault(
                reason: "\(folder.path(of: name)) is missing. A daemon still has it: do not stop the daemon, and run "
                    + "`keychain recovery put-back` with KEYCHAIN_SOCKET set to its socket, without KEYCHAIN_HOME")
        }
        return .unusableVault(
            reason: "\(folder.path(of: name)) is missing; restore the whole folder from a backup, "
                + (isRecoverable
                    ? "or open the vault with its recovery key (`keychain recovery restore`)"
                    : "or move the folder away to start with an empty vault"))
    }

    /// A vault stays in the enclave that it was made in.
    private func checkEnclave(is kind: EnclaveKind) throws {
        let present = try readEnclave(Self.deviceSecretName).kind
        guard present != kind else { return }
        throw VaultError.unusableVault(
            reason: "the vault in \(folder.path) hangs on the enclave '\(present.name)', and stays with it; "
                + "to begin with '\(kind.name)', make a vault in another folder (KEYCHAIN_HOME)")
    }

    private func create(in kind: EnclaveKind, detectsRollback: Bool) throws -> OpenedVault {
        try removeRemainsOfInterruptedCreation()
        let enclave = try remainingEnclave(of: kind) ?? makeEnclave(Self.deviceSecretName, kind)
        let keybag = try Keybag.generate(in: enclave, counter: detectsRollback ? makeCounter(in: enclave) : nil)
        return try create(keybag, in: enclave)
    }

    /// Makes an empty vault with this keybag, whose device secret is in its place. For callers that hold the folder's
    /// lock.
    func create(_ keybag: Keybag, in enclave: any Enclave) throws -> OpenedVault {
        // Names the store, which a later program is to remove if this one is killed before the keybag is in its place.
        try folder.replace(Self.nextKeybagName, with: try keybag.encoded(in: enclave))
        let store = try makeStore(for: ClassKeys(keybag, in: enclave))
        try folder.synchronize()
        try folder.rename(Self.nextKeybagName, to: Self.keybagName)
        try folder.remove(Self.nextCounterName)
        return try OpenedVault(store, opened(keybag, in: enclave), in: self)
    }

    /// A counter for a new keybag; one that a killed program has made for it, if there is one. For callers that hold
    /// the folder's lock, and that remove the file once the keybag is in its place.
    func makeCounter(in enclave: any Enclave) throws -> RollbackCounter {
        if folder.contains(Self.nextCounterName) {
            let name = try folder.read(Self.nextCounterName, limit: 4)
            let index = name.reduce(0) { $0 << 8 | UInt32($1) }
            // In another TPM, or one that was cleared, the place may be somebody else's.
            if name.count == 4, let counter = try? RollbackCounter.make(index, in: enclave) { return counter }
        }
        let index = try enclave.freeCounter()
        try plan(counter: index)
        return try .make(index, in: enclave)
    }

    /// Has ``makeCounter(in:)`` take the counter with this name. For callers that hold the folder's lock.
    func plan(counter: UInt32) throws {
        try folder.replace(Self.nextCounterName, with: withUnsafeBytes(of: counter.bigEndian) { Data($0) })
    }

    /// What an interrupted creation left; nil if there is nothing, or an enclave of another kind, on which nothing
    /// hangs yet.
    private func remainingEnclave(of kind: EnclaveKind) throws -> (any Enclave)? {
        guard folder.contains(Self.deviceSecretName) else { return nil }
        let enclave = try readEnclave(Self.deviceSecretName)
        return enclave.kind == kind ? enclave : nil
    }

    /// A store that the keybag of an interrupted creation names is what the creation left; others may hold items.
    private func removeRemainsOfInterruptedCreation() throws {
        if folder.contains(Self.nextKeybagName) {
            let encoded = try folder.read(Self.nextKeybagName, limit: Keybag.largestEncoding)
            if let name = Keybag.identifier(of: encoded).map(Self.storeName), folder.contains(name),
                isWithoutRows(name, under: encoded)
            {
                try removeStore(name)
            }
            if try storeNames().isEmpty { try folder.remove(Self.nextKeybagName) }
        }
        try removeEmptyPlainStore()
        guard let store = try storeNames().first else { return }
        throw VaultError.unusableVault(
            reason: "\(folder.path(of: Self.keybagName)) is missing but \(store) may hold items; "
                + "restore the keybag from a backup, or move the folder away to start anew")
    }

    func readEnclave(_ name: String) throws -> any Enclave {
        var encoded = try folder.read(name, limit: 4096)
        defer { encoded.wipe() }
        return try enclaves.open(encoded)
    }

    func makeEnclave(_ name: String, _ kind: EnclaveKind) throws -> any Enclave {
        let fresh = try enclaves.make(kind)
        var encoded = try fresh.encoded()
        defer { encoded.wipe() }
        try folder.replace(name, with: encoded)
        return fresh
    }
}
