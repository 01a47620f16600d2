import KeychainModel

extension Keychain {
    /// When an item can be read, and whether it may ever leave this machine: Apple's protection classes.
    ///
    /// Storing under `whenPasscodeSetThisDeviceOnly` without a passcode throws ``KeychainError/Code/passcodeRequired``.
    public typealias Accessibility = KeychainAccessibility
}
