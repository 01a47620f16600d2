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

    /// Changes with the enrolled fingers or faces; nil if there are none.
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

/// The state of paired devices. There are none here.
public final class LADomainStateCompanion: NSObject, Sendable {
    /// Nil, for want of paired devices.
    public var stateHash: Data? { nil }
}
