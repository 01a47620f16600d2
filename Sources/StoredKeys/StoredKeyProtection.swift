import Access
import KeychainModel
import KeychainServices

/// How a key in the keychain is kept.
package struct StoredKeyProtection: Sendable {
    package let control: SecAccessControl
    /// Whether the key is encrypted for a key of the enclave, to whose use the conditions of ``control`` then apply.
    package let isInEnclave: Bool

    package init(_ control: SecAccessControl, isInEnclave: Bool) {
        self.control = control
        self.isInEnclave = isInEnclave
    }

    package init(_ protection: ProtectionClass, isInEnclave: Bool = false) {
        self.init(SecAccessControl(AccessControl(protection: protection)), isInEnclave: isInEnclave)
    }

    /// Whether what was read of the key has to be forgotten when the vault is locked.
    package var closesWithLock: Bool { control.closesWithLock }
}

extension SecAccessControl {
    /// Whether the class is open only while the vault is unlocked.
    package var closesWithLock: Bool {
        control.protection.availability == .whileUnlocked
    }

    /// The class alone, without the conditions.
    package var withoutConditions: SecAccessControl {
        SecAccessControl(AccessControl(protection: control.protection))
    }
}
