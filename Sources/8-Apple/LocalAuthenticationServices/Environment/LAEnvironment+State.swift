import Access
import Foundation

extension LAEnvironment {
    /// The ways to authenticate at one moment.
    public final class State: NSObject, NSCopying, Sendable {
        /// The sensor for fingers or faces; nil if there is none.
        public let biometry: MechanismBiometry?
        /// The passcode of the vault.
        public let userPassword: MechanismUserPassword?
        /// Paired devices. There are none here.
        public var companions: [MechanismCompanion] { [] }

        /// - Parameter available: What the vault says; nil if it cannot be asked.
        init(_ available: PresenceAvailability?) {
            biometry = available.flatMap(MechanismBiometry.init)
            userPassword = MechanismUserPassword(available)
            super.init()
        }

        /// All ways, whether they can be used now or not.
        public var allMechanisms: [Mechanism] {
            let mechanisms: [Mechanism?] = [biometry, userPassword]
            return mechanisms.compactMap { $0 } + companions
        }

        /// The state itself, because it does not change.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// Whether `object` has the same ways in the same condition.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? State)?.allMechanisms == allMechanisms
        }

        /// A hash of the ways and their condition.
        public override var hash: Int { allMechanisms.hashValue }
    }

    /// A way to authenticate, at one moment.
    // Safe to share between threads: it and its subclasses, which are all in this file, have constants only.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether a person could be asked for it now.
        public let isUsable: Bool
        /// What people call it, in English.
        public let localizedName: String
        /// The name of its picture among Apple's SF Symbols, for programs that map those to pictures of their own.
        public let iconSystemName: String

        fileprivate init(isUsable: Bool, name: String, icon: String) {
            self.isUsable = isUsable
            localizedName = name
            iconSystemName = icon
            super.init()
        }

        /// Whether `object` is the same way in the same condition.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Mechanism else { return false }
            return other.condition == condition
        }

        /// A hash of the way and its condition.
        public override var hash: Int { condition.hashValue }

        fileprivate var condition: [AnyHashable] { [localizedName, isUsable] }
    }

    /// A sensor for fingers or faces.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// The kind of sensor.
        public let biometryType: LABiometryType
        /// Whether a finger or face is enrolled.
        public let isEnrolled: Bool
        /// Whether the sensor waits for the passcode, as after five fingers in a row that were not recognized.
        public let isLockedOut: Bool
        /// Changes when a finger or face is enrolled or removed; the same as of ``LADomainStateBiometry``. Empty if
        /// none is enrolled.
        public let stateHash: Data
        /// Whether the sensor is out of reach, as under a closed lid. Always false: the vault is not told of the lid.
        public var builtInSensorInaccessible: Bool { false }

        fileprivate init?(_ available: PresenceAvailability) {
            biometryType = LABiometryType(available.biometryKind)
            let (name, icon): (String, String)
            switch biometryType {
            case .none: return nil
            case .touchID: (name, icon) = ("Fingerprint", "touchid")
            case .faceID: (name, icon) = ("Face", "faceid")
            case .opticID: (name, icon) = ("Iris", "opticid")
            }
            stateHash = available.domainState ?? Data()
            isEnrolled = available.biometryState != nil
            isLockedOut = available.biometryFailure == .biometryLockout
            super.init(
                isUsable: LAPolicy.deviceOwnerAuthenticationWithBiometrics.failure(given: available) == nil,
                name: name, icon: icon)
        }

        fileprivate override var condition: [AnyHashable] {
            super.condition + [biometryType, isEnrolled, isLockedOut, stateHash]
        }
    }

    /// The passcode of the vault.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        /// Whether a passcode is set.
        public let isSet: Bool

        fileprivate init(_ available: PresenceAvailability?) {
            isSet = available?.isPasscodeSet == true
            super.init(
                isUsable: isSet && available?.passcodeFailure == nil, name: "Passcode", icon: "lock")
        }

        fileprivate override var condition: [AnyHashable] { super.condition + [isSet] }
    }

    /// A paired device close by, such as a watch. No vault knows of such devices, so that there is no object of this
    /// class.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        /// The kind of device.
        public let type: LACompanionType
        /// Changes when a device of this kind is paired or forgotten; nil if none is paired.
        public let stateHash: Data?

        private init(type: LACompanionType) {
            self.type = type
            stateHash = nil
            super.init(isUsable: false, name: "", icon: "")
        }
    }
}
