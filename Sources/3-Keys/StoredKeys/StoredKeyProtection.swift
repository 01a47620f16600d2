import KeychainModel

/// How the keychain protects a key.
package struct StoredKeyProtection: Sendable {
    package let control: AccessControl
    /// Whether the key is encrypted for an enclave key. Then the conditions of ``control`` guard the use of the enclave
    /// key.
    package let isInEnclave: Bool

    package init(_ control: AccessControl, isInEnclave: Bool) {
        self.control = control
        self.isInEnclave = isInEnclave
    }

    package init(_ protection: ProtectionClass, isInEnclave: Bool = false) {
        self.init(AccessControl(protection: protection), isInEnclave: isInEnclave)
    }

    /// Whether the program must forget the key when the vault is locked.
    package var closesWithLock: Bool { control.protection.availability == .whileUnlocked }
}

extension AccessControl {
    /// This access control with its class alone.
    package var withoutConditions: AccessControl { AccessControl(protection: protection) }
}
