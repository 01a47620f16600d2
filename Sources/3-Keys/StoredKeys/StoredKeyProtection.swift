import KeychainModel

/// How a key in the keychain is kept.
package struct StoredKeyProtection: Sendable {
    package let control: AccessControl
    /// Whether the key is encrypted for a key of the enclave, to whose use the conditions of ``control`` then apply.
    package let isInEnclave: Bool

    package init(_ control: AccessControl, isInEnclave: Bool) {
        self.control = control
        self.isInEnclave = isInEnclave
    }

    package init(_ protection: ProtectionClass, isInEnclave: Bool = false) {
        self.init(AccessControl(protection: protection), isInEnclave: isInEnclave)
    }

    /// Whether what was read of the key has to be forgotten when the vault is locked.
    package var closesWithLock: Bool { control.protection.availability == .whileUnlocked }
}

extension AccessControl {
    /// The class alone, without the conditions.
    package var withoutConditions: AccessControl { AccessControl(protection: protection) }
}
