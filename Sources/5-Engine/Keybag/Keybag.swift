import Bytes
import Crypto
import Enclave
import FoundationEssentials
import KeychainModel
import SecureMemory

/// The stored form of the class keys. Each is wrapped with a key that the enclave derives for its class.
///
/// A keybag is a value. Changing it makes another one, which replaces the whole file.
/// Documentation/Specify/Formats/Vault.md specifies the format.
package struct Keybag: Sendable, Equatable {
    /// Identifies this keybag. The item store records the keybag of its rows.
    package let identifier: UUID
    /// The keybag whose erasure made this one; nil once the erasure is complete, or if there was none. As long as it is
    /// there, and the item store of that keybag, this one may have no store yet.
    package let replaces: UUID?
    package let enclaveKind: EnclaveKind
    package let salt: Data
    /// Nil while no passcode is set.
    package let passcode: PasscodeProtection?
    /// What shows that no later keybag was in use; nil for nothing.
    private(set) package var freshness: Freshness?
    /// The number of the last change of the item store that this keybag knows of: an item store that has not come so
    /// far is an older copy. Nil for a vault whose item store is still the plain one of the format before.
    package let storeSequence: UInt64?
    /// Each class's key, wrapped with AES key wrap (RFC 3394): 40 bytes.
    private(set) var wrappedKeys: ClassTable<Data>

    /// Makes a keybag with new random class keys for all classes except the passcode-only class, and without a
    /// passcode.
    ///
    /// - Parameter counter: See ``Freshness``; nil for a keybag without.
    package static func generate(
        in enclave: any Enclave, replacing replaced: UUID? = nil, counter: RollbackCounter? = nil
    ) throws(KeybagError) -> Keybag {
        var keybag = Keybag(
            identifier: UUID(), replaces: replaced, enclaveKind: enclave.kind,
            salt: SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }, passcode: nil, wrappedKeys: ClassTable())
        keybag.freshness = try Freshness.make(counter, in: enclave)
        for protection in ProtectionClass.allCases where protection != .whenPasscodeSetThisDeviceOnly {
            try keybag.generateKey(for: protection, in: enclave)
        }
        return keybag
    }

    /// Makes a keybag without a passcode, with the `recovered` class keys and new ones for the other classes.
    ///
    /// - Parameters:
    ///   - counter: See ``Freshness``; nil for a keybag without.
    ///   - hasPlainStore: Whether the item store is still the plain one of the format before.
    static func restored(
        _ identifier: UUID, _ recovered: ClassTable<LockedBytes>, in enclave: any Enclave, counter: RollbackCounter?,
        hasPlainStore: Bool
    ) throws(KeybagError) -> Keybag {
        var keybag = Keybag(
            identifier: identifier, replaces: nil, enclaveKind: enclave.kind,
            salt: SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }, passcode: nil, wrappedKeys: ClassTable(),
            storeSequence: hasPlainStore ? nil : 0)
        keybag.freshness = try Freshness.make(counter, in: enclave)
        for protection in ProtectionClass.allCases where protection != .whenPasscodeSetThisDeviceOnly {
            if let key = recovered[protection] {
                try keybag.wrap(key, for: protection, in: enclave, with: nil)
            } else {
                try keybag.generateKey(for: protection, in: enclave)
            }
        }
        return keybag
    }

    /// Returns a keybag with the same class keys and another passcode, or none. With a first passcode, the
    /// passcode-only class gets a key. Without a passcode, that class loses its key for good.
    ///
    /// A keybag with a counter gets one for the counter's next value. The caller increments the counter once the keybag
    /// has replaced this one.
    ///
    /// - Parameters:
    ///   - key: The stretched present passcode; nil if there is none.
    ///   - nextKey: The next passcode, stretched with `protection`.
    /// - Throws: ``KeybagError/wrongPasscode``.
    package func rewrapped(
        from key: LockedBytes?, to nextKey: LockedBytes?, _ protection: PasscodeProtection?, in enclave: any Enclave
    ) throws(KeybagError) -> Keybag {
        var next = Keybag(
            identifier: identifier, replaces: replaces, enclaveKind: enclaveKind, salt: salt, passcode: protection,
            wrappedKeys: ClassTable(), storeSequence: storeSequence)
        let present = try revealed(in: enclave)
        next.freshness = try Freshness.make(freshness?.counter.next, in: enclave)
        for name in ProtectionClass.allCases where wrappedKeys[name] != nil {
            if protection == nil, name == .whenPasscodeSetThisDeviceOnly { continue }
            try next.wrap(present.unwrapKey(for: name, in: enclave, with: key), for: name, in: enclave, with: nextKey)
        }
        let passcodeOnly = ProtectionClass.whenPasscodeSetThisDeviceOnly
        if protection != nil, next.wrappedKeys[passcodeOnly] == nil {
            try next.generateKey(for: passcodeOnly, in: enclave, with: nextKey)
        }
        return next
    }

    /// Returns a keybag with other class keys that takes the place of this one.
    ///
    /// - Parameters:
    ///   - keys: The class keys, of a keybag without a passcode in any enclave. The result has its identifier.
    ///   - key: The passcode, stretched with `protection`; nil without one.
    ///   - sequence: The number of the last change of its item store.
    package func replaced(
        by keys: ClassKeys, under key: LockedBytes?, _ protection: PasscodeProtection?, storeSequence sequence: UInt64,
        in enclave: any Enclave
    ) throws(KeybagError) -> Keybag {
        var next = Keybag(
            identifier: keys.keybag.identifier, replaces: nil, enclaveKind: enclaveKind,
            salt: SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }, passcode: protection,
            wrappedKeys: ClassTable(), storeSequence: sequence)
        next.freshness = try Freshness.make(freshness?.counter.next, in: enclave)
        for (name, _) in keys.keybag.wrappedKeys.entries {
            if protection == nil, name == .whenPasscodeSetThisDeviceOnly { continue }
            try next.wrap(keys.keybag.unwrapKey(for: name, in: keys.enclave), for: name, in: enclave, with: key)
        }
        return next
    }

    /// Returns this keybag for an item store that has come to a change with this number, which never goes down.
    package func knowing(storeSequence sequence: UInt64) -> Keybag {
        Keybag(
            identifier: identifier, replaces: replaces, enclaveKind: enclaveKind, salt: salt, passcode: passcode,
            wrappedKeys: wrappedKeys, freshness: freshness, storeSequence: max(storeSequence ?? 0, sequence))
    }

    /// Returns this keybag after the erase that made it is complete.
    package func withErasureComplete() -> Keybag {
        Keybag(
            identifier: identifier, replaces: nil, enclaveKind: enclaveKind, salt: salt, passcode: passcode,
            wrappedKeys: wrappedKeys, freshness: freshness, storeSequence: storeSequence)
    }

    /// Returns this keybag with the secret of its freshness in memory, so that unwrapping asks the enclave for it only
    /// once.
    ///
    /// - Throws: ``KeybagError/rolledBack`` if the enclave refuses, because a later keybag was in use.
    package func revealed(in enclave: any Enclave) throws(KeybagError) -> Keybag {
        var keybag = self
        keybag.freshness = try freshness?.revealed(in: enclave)
        return keybag
    }

    /// Gives `protection` a new key. Everything under its older key is lost for good.
    package mutating func generateKey(
        for protection: ProtectionClass, in enclave: any Enclave, with passcodeKey: LockedBytes? = nil
    ) throws(KeybagError) {
        guard let key = try? LockedBytes.random(count: Self.keySize) else { throw .memoryUnavailable }
        try wrap(key, for: protection, in: enclave, with: passcodeKey)
    }

    /// Removes the key of `protection` for good.
    package mutating func destroyKey(for protection: ProtectionClass) {
        wrappedKeys[protection] = nil
    }

    /// Returns the unwrapped class key of `protection`.
    ///
    /// - Parameter passcodeKey: What the enclave made of the stretched passcode; required for the classes that depend
    ///   on it.
    /// - Throws: ``KeybagError/wrongPasscode`` if it is wrong.
    package func unwrapKey(
        for protection: ProtectionClass, in enclave: any Enclave, with passcodeKey: LockedBytes? = nil
    ) throws(KeybagError) -> LockedBytes {
        guard let wrapped = wrappedKeys[protection] else { throw .noClassKey(protection) }
        let wrapping = try wrappingKey(for: protection, in: enclave, with: passcodeKey)
        guard let key = try? AES.KeyWrap.unwrap(wrapped, using: wrapping) else {
            throw hangsOnPasscode(protection) ? .wrongPasscode : .authenticationFailed
        }
        guard let locked = try? key.withUnsafeBytes({ try LockedBytes(copying: $0) }) else { throw .memoryUnavailable }
        return locked
    }

    /// Returns whether the key of `protection` can be unwrapped only with the passcode.
    package func hangsOnPasscode(_ protection: ProtectionClass) -> Bool {
        passcode != nil && protection.availability != .always
    }

    private mutating func wrap(
        _ key: LockedBytes, for protection: ProtectionClass, in enclave: any Enclave, with passcodeKey: LockedBytes?
    ) throws(KeybagError) {
        let wrapping = try wrappingKey(for: protection, in: enclave, with: passcodeKey)
        let wrapped = key.withUnsafeBytes { try? AES.KeyWrap.wrap(SymmetricKey(data: $0), using: wrapping) }
        guard let wrapped else { throw .malformed(reason: "class key \(protection.rawValue) cannot be wrapped") }
        wrappedKeys[protection] = wrapped
    }

    private func wrappingKey(
        for protection: ProtectionClass, in enclave: any Enclave, with passcodeKey: LockedBytes?
    ) throws(KeybagError) -> SymmetricKey {
        let needsPasscode = hangsOnPasscode(protection)
        guard !needsPasscode || passcodeKey != nil else { throw .locked(protection) }
        var secret = needsPasscode ? passcodeKey : nil
        if let fresh = try freshness?.secret(in: enclave) {
            guard let both = try? secret.map({ try LockedBytes(joining: fresh, $0) }) ?? fresh else {
                throw .memoryUnavailable
            }
            secret = both
        }
        return try Self.derive(
            in: enclave, tangling: secret, salt: salt,
            context: "swift-keychain/v1/class-key/\(protection.rawValue)")
    }

    static func derive(
        in enclave: any Enclave, tangling secret: LockedBytes? = nil, salt: Data, context: String
    ) throws(KeybagError) -> SymmetricKey {
        do {
            return try enclave.deriveKey(tangling: secret, salt: salt, context: context)
        } catch {
            throw KeybagError(error)
        }
    }

    private static let keySize = 32

    init(
        identifier: UUID, replaces: UUID?, enclaveKind: EnclaveKind, salt: Data, passcode: PasscodeProtection?,
        wrappedKeys: ClassTable<Data>, freshness: Freshness? = nil, storeSequence: UInt64? = 0
    ) {
        self.identifier = identifier
        self.replaces = replaces
        self.enclaveKind = enclaveKind
        self.salt = salt
        self.passcode = passcode
        self.wrappedKeys = wrappedKeys
        self.freshness = freshness
        self.storeSequence = storeSequence
    }
}
