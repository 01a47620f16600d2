/// When an item or a key can be had, and whether it may ever leave this machine: Apple's protection classes.
///
/// Choose the strictest class the program can live with. A program that runs while the machine is locked needs
/// ``afterFirstUnlock``; anything a person uses at the screen does well with ``whenUnlocked``.
///
/// The `ThisDeviceOnly` classes are left out of every backup and every synchronisation.
public struct KeychainAccessibility: RawRepresentable, Sendable, Hashable {
    package let protection: ProtectionClass

    /// The string Apple's keychain stores for the class, such as `ak` (`kSecAttrAccessible`).
    public var rawValue: String { protection.rawValue }

    /// The class with a raw value of Apple's, which `kSecAttrAccessibleWhenUnlocked` and the other constants have; nil
    /// for a string that names no class.
    public init?(rawValue: String) {
        guard let protection = ProtectionClass(rawValue: rawValue) else { return nil }
        self.protection = protection
    }

    package init(_ protection: ProtectionClass) { self.protection = protection }

    /// While the vault is unlocked. The default.
    public static let whenUnlocked = KeychainAccessibility(.whenUnlocked)

    /// From the first unlock after a restart until the next restart, locked or not. For background
    /// work.
    public static let afterFirstUnlock = KeychainAccessibility(.afterFirstUnlock)

    /// As ``whenUnlocked``, and never leaves this machine.
    public static let whenUnlockedThisDeviceOnly = KeychainAccessibility(.whenUnlockedThisDeviceOnly)

    /// As ``afterFirstUnlock``, and never leaves this machine.
    public static let afterFirstUnlockThisDeviceOnly = KeychainAccessibility(.afterFirstUnlockThisDeviceOnly)

    /// While the vault is unlocked, and only as long as it has a passcode: removing the passcode
    /// destroys these items for good. Never leaves this machine. Cannot be stored without a
    /// passcode.
    public static let whenPasscodeSetThisDeviceOnly = KeychainAccessibility(.whenPasscodeSetThisDeviceOnly)

    /// Always, even before the first unlock.
    ///
    /// Apple deprecated this class: a passcode protects such an item from nobody. Prefer
    /// ``afterFirstUnlock``.
    public static let always = KeychainAccessibility(.always)

    /// As ``always``, and never leaves this machine.
    public static let alwaysThisDeviceOnly = KeychainAccessibility(.alwaysThisDeviceOnly)
}

extension KeychainAccessibility: CustomStringConvertible {
    /// Apple's name of the class without its prefix, such as `whenUnlocked`.
    public var description: String { "\(protection)" }
}
