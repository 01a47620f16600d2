import KeychainModel

extension Keychain {
    /// When an item can be read, and whether it may ever leave this machine: Apple's protection classes.
    ///
    /// Choose the strictest class the program can live with. A program that runs while the machine is
    /// locked needs ``afterFirstUnlock``; anything a person uses at the screen does well with
    /// ``whenUnlocked``.
    ///
    /// The `ThisDeviceOnly` classes are left out of every backup and every synchronisation.
    public struct Accessibility: RawRepresentable, Sendable, Hashable {
        /// The string Apple's keychain stores for the class, such as `ak` (`kSecAttrAccessible`).
        public var rawValue: String

        /// The class with a raw value of Apple's. Storing an item with a string that names no class is
        /// refused with ``KeychainError/Code/invalidRequest``.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        init(_ protection: ProtectionClass) {
            self.rawValue = protection.rawValue
        }

        /// While the vault is unlocked. The default.
        public static let whenUnlocked = Accessibility(.whenUnlocked)

        /// From the first unlock after a restart until the next restart, locked or not. For background
        /// work.
        public static let afterFirstUnlock = Accessibility(.afterFirstUnlock)

        /// As ``whenUnlocked``, and never leaves this machine.
        public static let whenUnlockedThisDeviceOnly = Accessibility(.whenUnlockedThisDeviceOnly)

        /// As ``afterFirstUnlock``, and never leaves this machine.
        public static let afterFirstUnlockThisDeviceOnly = Accessibility(.afterFirstUnlockThisDeviceOnly)

        /// While the vault is unlocked, and only as long as it has a passcode: removing the passcode
        /// destroys these items for good. Never leaves this machine. Cannot be stored without a
        /// passcode (``KeychainError/Code/passcodeRequired``).
        public static let whenPasscodeSetThisDeviceOnly = Accessibility(.whenPasscodeSetThisDeviceOnly)

        /// Always, even before the first unlock.
        ///
        /// Apple deprecated this class: a passcode protects such an item from nobody. Prefer
        /// ``afterFirstUnlock``.
        public static let always = Accessibility(.always)

        /// As ``always``, and never leaves this machine.
        public static let alwaysThisDeviceOnly = Accessibility(.alwaysThisDeviceOnly)

        func protection() throws(KeychainError) -> ProtectionClass {
            guard let found = ProtectionClass(rawValue: rawValue) else {
                throw .invalidRequest("there is no protection class of this name; use one of Keychain.Accessibility")
            }
            return found
        }
    }
}

extension Keychain.Accessibility: CustomStringConvertible {
    /// Apple's name of the class without its prefix, such as `whenUnlocked`.
    public var description: String {
        ProtectionClass(rawValue: rawValue).map { "\($0)" } ?? rawValue
    }
}
