import Foundation

/// The state of what a person can be known by, as it is now.
public final class LADomainState: NSObject, Sendable {
    /// The state of the fingers and faces.
    public let biometry: LADomainStateBiometry
    /// The state of paired devices.
    public let companion = LADomainStateCompanion()

    init(biometry: LADomainStateBiometry) {
        self.biometry = biometry
        super.init()
    }

    /// Changes with the enrolled fingers or faces, and would with paired devices; nil if there are none of both.
    public var stateHash: Data? { biometry.stateHash }
}

/// The state of the enrolled fingers or faces.
public final class LADomainStateBiometry: NSObject, Sendable {
    /// The kind of sensor.
    public let biometryType: LABiometryType
    /// Changes when a finger or face is enrolled or removed; nil if there are none.
    public let stateHash: Data?

    init(biometryType: LABiometryType, stateHash: Data?) {
        self.biometryType = biometryType
        self.stateHash = stateHash
        super.init()
    }
}

/// The state of paired devices. No vault knows of such devices: there are none here.
public final class LADomainStateCompanion: NSObject, Sendable {
    override init() {
        super.init()
    }

    /// The kinds of devices that are paired: none.
    public var availableCompanionTypes: Set<LACompanionType> { [] }

    /// Nil, for want of paired devices.
    public var stateHash: Data? { nil }

    /// Nil, for want of paired devices.
    ///
    /// - Parameter companionType: The kind of devices.
    public func stateHash(for companionType: LACompanionType) -> Data? { nil }
}

/// The kinds of devices that can be paired. Values as in Apple's LACompanionType.h. There are none here.
public enum LACompanionType: Int, Sendable, Hashable, CaseIterable {
    /// An Apple Watch.
    case watch = 1
    /// A Mac.
    case mac = 2
    /// An Apple Vision.
    case vision = 4
}
