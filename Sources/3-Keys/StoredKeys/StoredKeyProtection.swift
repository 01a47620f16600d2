import KeychainModel

/// Where the keychain keeps a key, and when the key can be used.
///
/// ```swift
/// let keys = FieldKeys("com.example.notes", protection: .enclave(.whenUnlockedThisDeviceOnly))
/// ```
public struct StoredKeyProtection: Sendable, Hashable {
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

    /// As an item of the keychain.
    ///
    /// - Parameter accessibility: When the item can be read.
    public static func keychain(_ accessibility: KeychainAccessibility) -> StoredKeyProtection {
        StoredKeyProtection(accessibility.protection)
    }

    /// As an item of the keychain that is encrypted for a key of the Secure Enclave, made for it, so that it opens on
    /// this machine alone.
    ///
    /// - Parameter accessibility: When the enclave's key can be used.
    public static func enclave(_ accessibility: KeychainAccessibility) -> StoredKeyProtection {
        StoredKeyProtection(accessibility.protection, isInEnclave: true)
    }

    /// Whether the program must forget the key when the vault is locked.
    package var closesWithLock: Bool { control.protection.availability == .whileUnlocked }
}

extension AccessControl {
    /// This access control with its class alone.
    package var withoutConditions: AccessControl { AccessControl(protection: protection) }
}
