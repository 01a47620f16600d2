import Bytes
import CLibrary
import Crypto
import Enclave
import FoundationEssentials
import KeychainModel
import PreparedKeys
import SecureMemory
import Synchronization

/// An opened keybag: class keys in locked memory, and the lock state, which decides which of them may be used.
package final class ClassKeys: Sendable {
    fileprivate struct Pair {
        let classKey: LockedBytes
        /// Its prepared key is in locked memory, too.
        let metadataCipher: PreparedAEAD
    }

    private struct State {
        var keybag: Keybag
        var lockState: LockState
        /// The keys that were unwrapped since they became available. Most programs use one class.
        var unwrapped: ClassTable<Pair>
        /// The public half of the agreement key for files, after it was kept for use while the vault is locked.
        var filePublicKey: Data?
    }

    package let enclave: any Enclave
    private let state: UnfairMutex<State>
    /// Whether the keybag has a passcode. Outside of the state, because each operation asks for it.
    private let hasPasscode: Atomic<Bool>

    /// The key for digests of the items that need no unlocking, and of access groups. It is derived from the 'always'
    /// class.
    package let indexKey: SymmetricKey

    /// Opens `keybag`. It is unlocked if it has no passcode, and otherwise locked until ``unlock(with:)``.
    ///
    /// - Throws: ``KeybagError/rolledBack`` if the enclave refuses the keybag, because a later one was in use.
    package init(_ keybag: Keybag, in enclave: any Enclave) throws(KeybagError) {
        self.enclave = enclave
        // Classes are unwrapped at any time from here on, and the enclave is to be asked once.
        let keybag = try keybag.revealed(in: enclave)
        let always = try keybag.unwrapKey(for: .always, in: enclave)
        indexKey = Self.derive(from: always, context: "swift-keychain/v1/index")
        hasPasscode = Atomic(keybag.passcode != nil)
        state = UnfairMutex(
            State(
                keybag: keybag, lockState: keybag.passcode == nil ? .unlocked : .beforeFirstUnlock,
                unwrapped: ClassTable()))
    }

    /// The key that authenticates the audit log. It is derived from the 'always' class, because locking is recorded,
    /// too.
    ///
    /// - Throws: ``KeybagError``.
    package var auditKey: SymmetricKey {
        get throws(KeybagError) {
            Self.derive(from: try pair(for: .always).classKey, context: "swift-keychain/v1/audit")
        }
    }

    /// The key that anchors the audit log. It is derived from the class 'after first unlock, this device only': an
    /// unlocking opens it, it stays at hand while the vault is locked again, and neither the recovery key nor a backup
    /// has it.
    ///
    /// - Throws: ``KeybagError``, also ``KeybagError/locked(_:)``.
    package var auditAnchorKey: SymmetricKey {
        get throws(KeybagError) {
            let (pair, identifier) = (try pair(for: .afterFirstUnlockThisDeviceOnly), keybag.identifier)
            let context = withUnsafeBytes(of: identifier.uuid) { Array("swift-keychain/v2/audit/anchor".utf8) + $0 }
            return Self.derive(from: pair.classKey, context: context)
        }
    }

    /// The key for digests of the items that need an unlocking. It is derived from the class 'after first unlock': a
    /// vault that was locked again can still tell a locked item from a missing one, and who has the files and not the
    /// passcode cannot guess what is in it. The recovery key has it, and a backup.
    ///
    /// - Throws: ``KeybagError``, also ``KeybagError/locked(_:)``.
    package var closedIndexKey: SymmetricKey {
        get throws(KeybagError) {
            Self.derive(from: try pair(for: .afterFirstUnlock).classKey, context: "swift-keychain/v2/index")
        }
    }

    /// The key of the item store's file, 32 bytes. It is derived from the 'always' class, because a locked vault is
    /// read and written, too.
    ///
    /// - Throws: ``KeybagError``.
    package var storeKey: SecretBytes {
        get throws(KeybagError) {
            let key = Self.derive(from: try pair(for: .always).classKey, context: "swift-keychain/v2/items")
            guard let secret = try? key.withUnsafeBytes({ try SecretBytes(copying: $0) }) else {
                throw .memoryUnavailable
            }
            return secret
        }
    }

    package var keybag: Keybag { state.withLock { $0.keybag } }

    package var lockState: LockState { state.withLock { $0.lockState } }

    /// Returns the key that wraps the items' own keys.
    ///
    /// - Throws: ``KeybagError/locked(_:)`` or ``KeybagError/noClassKey(_:)``.
    package func classKey(for protection: ProtectionClass) throws(KeybagError) -> SymmetricKey {
        try pair(for: protection).classKey.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    /// Returns the cipher that seals the items' attributes.
    ///
    /// - Throws: ``KeybagError/locked(_:)`` or ``KeybagError/noClassKey(_:)``.
    package func metadataCipher(for protection: ProtectionClass) throws(KeybagError) -> PreparedAEAD {
        try pair(for: protection).metadataCipher
    }

    /// Returns the key of ``metadataCipher(for:)``.
    ///
    /// - Throws: ``KeybagError/locked(_:)`` or ``KeybagError/noClassKey(_:)``.
    package func metadataKey(for protection: ProtectionClass) throws(KeybagError) -> SymmetricKey {
        Self.metadataKey(from: try pair(for: protection).classKey)
    }

    private static func metadataKey(from classKey: LockedBytes) -> SymmetricKey {
        derive(from: classKey, context: "swift-keychain/v1/metadata")
    }

    /// Throws the reason if the keys of `protection` cannot be used.
    package func checkAvailable(_ protection: ProtectionClass) throws(KeybagError) {
        _ = try pair(for: protection)
    }

    private func pair(for protection: ProtectionClass) throws(KeybagError) -> Pair {
        try state.withLock { state throws(KeybagError) in
            if let pair = state.unwrapped[protection] { return pair }
            guard state.keybag.wrappedKeys[protection] != nil else { throw .noClassKey(protection) }
            guard state.lockState.permits(protection.availability) else { throw .locked(protection) }
            let pair = try pair(protection, from: state.keybag, with: nil)
            state.unwrapped[protection] = pair
            return pair
        }
    }

    /// Whether there is a passcode to lock with.
    package var isLockable: Bool { hasPasscode.load(ordering: .relaxed) }

    /// The public key for creating files while the vault is locked; nil if the vault has not been unlocked since it was
    /// opened.
    package var filePublicKey: Data? { state.withLock { $0.filePublicKey } }

    /// Changes to `lockState`. Wipes the keys that it does not permit.
    package func enter(_ lockState: LockState) {
        state.withLock { state in
            if state.lockState == .unlocked, lockState != .unlocked, state.filePublicKey == nil {
                state.filePublicKey = filePublicKey(in: state)
            }
            state.unwrapped.keep { lockState.permits($0.availability) }
            state.lockState = lockState
        }
    }

    /// The class keys that depend on the passcode, unwrapped: the proof that the passcode was the right one.
    package struct Unlocked {
        fileprivate let keys: ClassKeys
        fileprivate let pairs: ClassTable<Pair>

        /// Whether they are the keys of this keybag.
        package func belong(to keys: ClassKeys) -> Bool { self.keys === keys }

        /// Lets the keybag use them.
        package func unlock() {
            keys.state.withLock { state in
                state.unwrapped = pairs
                state.lockState = .unlocked
            }
        }
    }

    /// Unwraps the keys that depend on the passcode, and leaves the keybag as it is.
    ///
    /// - Parameter passcodeKey: What the enclave made of the stretched passcode.
    /// - Throws: ``KeybagError/wrongPasscode``.
    package func unwrapped(with passcodeKey: LockedBytes) throws(KeybagError) -> Unlocked {
        Unlocked(keys: self, pairs: try pairs(of: keybag, with: passcodeKey))
    }

    /// Unwraps the keys that depend on the passcode, and unlocks.
    ///
    /// - Parameter passcodeKey: What the enclave made of the stretched passcode.
    /// - Throws: ``KeybagError/wrongPasscode``.
    package func unlock(with passcodeKey: LockedBytes) throws(KeybagError) {
        try unwrapped(with: passcodeKey).unlock()
    }

    private func pairs(
        of keybag: Keybag, with passcodeKey: LockedBytes?
    ) throws(KeybagError) -> ClassTable<Pair> {
        var pairs = ClassTable<Pair>()
        for (protection, _) in keybag.wrappedKeys.entries where keybag.hangsOnPasscode(protection) {
            pairs[protection] = try pair(protection, from: keybag, with: passcodeKey)
        }
        return pairs
    }

    /// Replaces the present keybag by one with the same class keys and another passcode.
    ///
    /// - Parameter passcodeKey: What the enclave made of the stretched passcode of `keybag`; nil if it has none.
    package func adopt(_ keybag: Keybag, with passcodeKey: LockedBytes?) throws(KeybagError) {
        let pairs = try pairs(of: keybag, with: passcodeKey)
        hasPasscode.store(keybag.passcode != nil, ordering: .relaxed)
        state.withLock { state in
            state.keybag = keybag
            state.unwrapped = pairs
            state.lockState = .unlocked
        }
    }

    /// Takes over the keys of `other`, after another program has replaced the keybag. With another passcode the
    /// passcode-only class stays locked, because its key may have changed.
    package func inherit(from other: ClassKeys) {
        guard keybag.passcode != nil, other.keybag.passcode != nil else { return }
        let isSamePasscode = keybag.passcode == other.keybag.passcode
        let (lockState, others, filePublicKey) = other.state.withLock { ($0.lockState, $0.unwrapped, $0.filePublicKey) }
        state.withLock { state in
            state.filePublicKey = filePublicKey
            state.unwrapped = others
            if !isSamePasscode { state.unwrapped[.whenPasscodeSetThisDeviceOnly] = nil }
            state.lockState = lockState
        }
    }

    /// Returns whether the class has a key, locked or not.
    package func hasKey(for protection: ProtectionClass) -> Bool {
        // Every keybag has the keys of all other classes.
        guard protection == .whenPasscodeSetThisDeviceOnly else { return true }
        return state.withLock { $0.keybag.wrappedKeys[protection] != nil }
    }

    /// Whether the passcode-only class has a key.
    package var hasPasscodeClass: Bool { hasKey(for: .whenPasscodeSetThisDeviceOnly) }

    /// Gives the passcode-only class of a simulated device a new key without a passcode; or destroys its key, and with
    /// it everything under that key.
    package func setPasscodeClass(present: Bool) throws(KeybagError) {
        try state.withLock { state throws(KeybagError) in
            let exists = state.keybag.wrappedKeys[.whenPasscodeSetThisDeviceOnly] != nil
            guard exists != present else { return }
            if present {
                try state.keybag.generateKey(for: .whenPasscodeSetThisDeviceOnly, in: enclave)
            } else {
                state.keybag.destroyKey(for: .whenPasscodeSetThisDeviceOnly)
            }
            state.unwrapped[.whenPasscodeSetThisDeviceOnly] = nil
        }
    }

    private func filePublicKey(in state: State) -> Data? {
        let protection = FileClassKeys.protection(of: .completeUnlessOpen)
        guard let pair = try? state.unwrapped[protection] ?? pair(protection, from: state.keybag, with: nil) else {
            return nil
        }
        let key = pair.classKey.withUnsafeBytes { try? FileClassKeys.agreementKey(from: SymmetricKey(data: $0)) }
        return key?.publicKey.rawRepresentation
    }

    private func pair(
        _ protection: ProtectionClass, from keybag: Keybag, with passcodeKey: LockedBytes?
    ) throws(KeybagError) -> Pair {
        let classKey = try keybag.unwrapKey(for: protection, in: enclave, with: passcodeKey)
        let cipher = try? PreparedAEAD(.aesGCM, Self.metadataKey(from: classKey)) { place in
            try LockedBytes(count: PreparedAEAD.room, fill: place)
        }
        guard let cipher else { throw .memoryUnavailable }
        return Pair(classKey: classKey, metadataCipher: cipher)
    }

    /// HKDF-SHA256 (RFC 5869) without salt: the class key is already uniformly random.
    private static func derive(from classKey: LockedBytes, context: String) -> SymmetricKey {
        derive(from: classKey, context: [UInt8](context.utf8))
    }

    private static func derive(from classKey: LockedBytes, context: [UInt8]) -> SymmetricKey {
        defer { if !PreparedAEAD.isAvailable { wipeRecentlyFreed(.derivation) } }
        return classKey.withUnsafeBytes { KeyDerivation.key(from: $0, info: context) }
    }
}
