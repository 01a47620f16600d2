import Bytes
import KeychainModel

/// What must hold before an item protected by a ``SecAccessControl`` may be used. Bits as in Apple's
/// SecAccessControl.h.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: CFOptionFlags

    /// Creates flags from their bits.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// A person who is present: any biometry or the passcode.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// Biometry, also with fingers or faces enrolled later.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// Biometry with the fingers or faces enrolled now; the item is lost when they change.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// The passcode.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// A paired device close by.
    public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)
    /// One of the constraints is enough.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All constraints must hold.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// The constraints guard the use of a private key and not the reading of the item.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password that the application supplies.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

    /// The older name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// The older name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The older name of ``companion``.
    public static let watch = companion

    var modelFlags: AccessControl.Flags { AccessControl.Flags(rawValue: UInt64(rawValue)) }
}
