import Foundation
import KeychainModel

/// When an item can be read and what must hold before it may be used.
///
/// Two access controls are equal when their protection class and constraints are.
public final class SecAccessControl: Sendable {
    package let control: AccessControl

    package init(_ control: AccessControl) { self.control = control }
}

extension SecAccessControl: Hashable, CustomDebugStringConvertible {
    /// Whether both have the same protection class and constraints.
    public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool { left.control == right.control }

    public func hash(into hasher: inout Hasher) { hasher.combine(control) }

    /// The protection class and, if there are any, the bits of the constraints.
    public var debugDescription: String {
        let flags = control.flags.map { ";flags(\(String($0.rawValue, radix: 16)))" } ?? ""
        return "<SecAccessControlRef: \(control.protection.rawValue)\(flags)>"
    }
}

/// Creates an access control.
///
/// - Parameters:
///   - allocator: Not used.
///   - protection: When the item can be read: one of the `kSecAttrAccessible…` strings.
///   - flags: What else must hold; empty for nothing.
///   - error: On return an error with code ``errSecParam``, if the protection is not one of the strings or
///     the flags contradict each other.
/// - Returns: The access control, or nil.
@discardableResult
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    guard let string = protection as? NSString, let protection = ProtectionClass(rawValue: string as String),
        AccessControl.isValid(flags.modelFlags)
    else {
        store(errSecParam, "The protection class or the flags of an access control are invalid.", in: error)
        return nil
    }
    return SecAccessControl(AccessControl(protection: protection, flags: flags.modelFlags))
}

/// The type of access controls.
@discardableResult
public func SecAccessControlGetTypeID() -> CFTypeID {
    coreFoundationTypeID(of: SecAccessControl.self)
}
