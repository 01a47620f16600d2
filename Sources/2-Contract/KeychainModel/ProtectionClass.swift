/// When an item's class key is available: Apple's accessibility constants.
///
/// Raw values are the strings Apple's keychain stores in `pdmn`.
package enum ProtectionClass: String, CaseIterable, Sendable {
    case whenUnlocked = "ak"
    case afterFirstUnlock = "ck"
    case always = "dk"
    case whenPasscodeSetThisDeviceOnly = "akpu"
    case whenUnlockedThisDeviceOnly = "aku"
    case afterFirstUnlockThisDeviceOnly = "cku"
    case alwaysThisDeviceOnly = "dku"

    /// The lock states in which the class key can be used.
    package var availability: Availability {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .whileUnlocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
        case .always, .alwaysThisDeviceOnly: .always
        }
    }

    /// Whether its items need an unlocking.
    package var isClosed: Bool { availability != .always }

    /// Whether items of this class stay on the device that has them: no other device can restore or receive them.
    package var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenPasscodeSetThisDeviceOnly, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
            .alwaysThisDeviceOnly:
            true
        }
    }

    package enum Availability: Sendable {
        case whileUnlocked, afterFirstUnlock, always
    }

    /// The number that stands for the class in stored structures; never reused.
    package var storedCode: UInt8 {
        switch self {
        case .whenUnlocked: 1
        case .afterFirstUnlock: 2
        case .always: 3
        case .whenPasscodeSetThisDeviceOnly: 4
        case .whenUnlockedThisDeviceOnly: 5
        case .afterFirstUnlockThisDeviceOnly: 6
        case .alwaysThisDeviceOnly: 7
        }
    }

    package init?(storedCode: UInt8) {
        guard let found = Self.allCases.first(where: { $0.storedCode == storedCode }) else { return nil }
        self = found
    }
}

/// Whether the vault's class keys are available.
package enum LockState: String, Sendable, CaseIterable {
    /// The machine or vault was started and no passcode was given since.
    case beforeFirstUnlock
    /// Unlocked once, locked now.
    case locked
    case unlocked

    /// Whether a class key with this availability can be used in this state.
    package func permits(_ availability: ProtectionClass.Availability) -> Bool {
        switch availability {
        case .always: true
        case .afterFirstUnlock: self != .beforeFirstUnlock
        case .whileUnlocked: self == .unlocked
        }
    }
}
