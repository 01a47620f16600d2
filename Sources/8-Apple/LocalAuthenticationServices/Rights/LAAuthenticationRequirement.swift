import Foundation
import KeychainModel

/// What a person has to show before a right is granted.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// The constraints that the requirement stands for.
    let flags: AccessControl.Flags

    init(_ flags: AccessControl.Flags) {
        self.flags = flags
        super.init()
    }

    /// A finger, a face or the passcode.
    public static let `default` = LAAuthenticationRequirement(.userPresence)
    /// A finger or face.
    public static let biometry = LAAuthenticationRequirement(.biometryAny)
    /// A finger or face of those that are enrolled now. When another one is enrolled or one is removed, the right
    /// cannot be authorized any more.
    public static let biometryCurrentSet = LAAuthenticationRequirement(.biometryCurrentSet)

    /// A finger or face, or what stands in for them.
    ///
    /// - Parameter fallback: What stands in where there is no finger or face, or the person prefers it.
    public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement(fallback.flags)
    }

    /// Whether `object` is a requirement that demands the same.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? LAAuthenticationRequirement)?.flags == flags
    }

    /// A hash of what the requirement demands.
    public override var hash: Int { flags.hashValue }

    /// The policy with which it is found out whether a person could meet the requirement.
    var policy: LAPolicy {
        flags.isDisjoint(with: [.userPresence, .devicePasscode])
            ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication
    }
}

/// What stands in for a finger or face.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// The constraints of a finger or face with this fallback.
    let flags: AccessControl.Flags

    private init(_ flags: AccessControl.Flags) {
        self.flags = flags
        super.init()
    }

    /// Each way in which the owner of the machine can authenticate: here the passcode, because there are no paired
    /// devices.
    public static let `default` = LABiometryFallbackRequirement(.userPresence)
    /// The passcode.
    public static let devicePasscode = LABiometryFallbackRequirement([.biometryAny, .or, .devicePasscode])
}
