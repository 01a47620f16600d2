import StoredKeys

extension StoredKeyProtection {
    /// As an item of the keychain, under an access control. A person is asked once for each key and program, until the
    /// program forgets the key or, in a class that closes with the lock, until the vault is locked.
    public static func keychain(_ control: SecAccessControl) -> StoredKeyProtection {
        StoredKeyProtection(control.control, isInEnclave: false)
    }

    /// A keychain item that is encrypted for a new key of the Secure Enclave. An access control guards the use of that
    /// key.
    ///
    /// - Parameter control: With `.privateKeyUsage`.
    public static func enclave(_ control: SecAccessControl) -> StoredKeyProtection {
        StoredKeyProtection(control.control, isInEnclave: true)
    }
}
