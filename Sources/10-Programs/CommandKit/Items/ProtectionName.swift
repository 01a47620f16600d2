import ArgumentParser
import KeychainModel

/// The protection classes by the names of Apple's constants, in the style of the command line. The keychain's own short
/// codes are accepted as well.
package enum ProtectionName: String, CaseIterable, ExpressibleByArgument {
    case whenUnlocked = "when-unlocked"
    case whenUnlockedThisDeviceOnly = "when-unlocked-this-device-only"
    case afterFirstUnlock = "after-first-unlock"
    case afterFirstUnlockThisDeviceOnly = "after-first-unlock-this-device-only"
    case whenPasscodeSetThisDeviceOnly = "when-passcode-set-this-device-only"
    case always = "always"
    case alwaysThisDeviceOnly = "always-this-device-only"

    package init?(argument: String) {
        if let protection = ProtectionClass(rawValue: argument) {
            self.init(protection)
        } else {
            self.init(rawValue: argument)
        }
    }

    package init(_ protection: ProtectionClass) {
        self =
            switch protection {
            case .whenUnlocked: .whenUnlocked
            case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
            case .afterFirstUnlock: .afterFirstUnlock
            case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
            case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
            case .always: .always
            case .alwaysThisDeviceOnly: .alwaysThisDeviceOnly
            }
    }

    package var protection: ProtectionClass {
        switch self {
        case .whenUnlocked: .whenUnlocked
        case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlock: .afterFirstUnlock
        case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
        case .always: .always
        case .alwaysThisDeviceOnly: .alwaysThisDeviceOnly
        }
    }
}
