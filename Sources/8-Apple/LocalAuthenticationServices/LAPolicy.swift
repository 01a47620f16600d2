import Foundation

/// What a person is asked for. Values as in Apple's LAPublicDefines.h.
public enum LAPolicy: Int, Sendable, Hashable, CaseIterable {
    /// A finger or face.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A finger or face, else the passcode.
    case deviceOwnerAuthentication = 2
    /// A paired device close by.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// A finger, a face, or a paired device close by.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    /// The older name of ``deviceOwnerAuthenticationWithCompanion``.
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }
    /// The older name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
}

/// What an access control is evaluated for. Values as in Apple's LAContext.h.
public enum LAAccessControlOperation: Int, Sendable, Hashable, CaseIterable {
    /// An item is added.
    case createItem = 0
    /// An item is read or changed.
    case useItem = 1
    /// A key is made.
    case createKey = 2
    /// A key signs.
    case useKeySign = 3
    /// A key decrypts.
    case useKeyDecrypt = 4
    /// A key takes part in a key exchange.
    case useKeyKeyExchange = 5
}

/// The kinds of secret that a program can give a context. Values as in Apple's LAContext.h.
public enum LACredentialType: Int, Sendable, Hashable, CaseIterable {
    /// The further password of items with the flag `applicationPassword`.
    case applicationPassword = 0
    /// The PIN of a smart card. There are none here.
    case smartCardPIN = -3
}

/// The kinds of biometry. Values as in Apple's LAContext.h.
public enum LABiometryType: Int, Sendable, Hashable, CaseIterable {
    /// There is no sensor.
    case none = 0
    /// A fingerprint reader.
    case touchID = 1
    /// A camera that knows faces.
    case faceID = 2
    /// A camera that knows eyes.
    case opticID = 4

    /// The older name of ``none``.
    public static var LABiometryNone: LABiometryType { .none }
}

/// The longest time in seconds, five minutes, that ``LAContext/touchIDAuthenticationAllowableReuseDuration`` can have
/// an effect for (Apple, LAContext.h).
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
