import Foundation

/// Identifies the type of a Core Foundation object.
public typealias CFTypeID = UInt

/// The identifier of a class whose objects are passed as Core Foundation objects.
package func coreFoundationTypeID(of type: AnyClass) -> CFTypeID {
    UInt(bitPattern: ObjectIdentifier(type).hashValue)
}

/// The type of `object`, to be compared with what a `…GetTypeID` function returns.
@discardableResult
public func CFGetTypeID(_ object: CFTypeRef!) -> CFTypeID {
    switch object {
    case nil: 0
    case is NSString: CFStringGetTypeID()
    case is NSData: CFDataGetTypeID()
    case let number as NSNumber: isCFBoolean(number) ? CFBooleanGetTypeID() : CFNumberGetTypeID()
    case is NSDictionary: CFDictionaryGetTypeID()
    case is NSArray: CFArrayGetTypeID()
    case is NSSet: CFSetGetTypeID()
    case is NSDate: CFDateGetTypeID()
    case is NSNull: CFNullGetTypeID()
    case is NSError: CFErrorGetTypeID()
    case is NSURL: CFURLGetTypeID()
    case let other?: coreFoundationTypeID(of: type(of: other))
    }
}

/// The type of strings.
@discardableResult
public func CFStringGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSString.self) }
/// The type of data.
@discardableResult
public func CFDataGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSData.self) }
/// The type of numbers, Booleans excluded.
@discardableResult
public func CFNumberGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSNumber.self) }
/// The type of ``kCFBooleanTrue`` and ``kCFBooleanFalse``.
@discardableResult
public func CFBooleanGetTypeID() -> CFTypeID { coreFoundationTypeID(of: BooleanType.self) }
/// The type of dictionaries.
@discardableResult
public func CFDictionaryGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSDictionary.self) }
/// The type of arrays.
@discardableResult
public func CFArrayGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSArray.self) }
/// The type of sets.
@discardableResult
public func CFSetGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSSet.self) }
/// The type of dates.
@discardableResult
public func CFDateGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSDate.self) }
/// The type of ``kCFNull``.
@discardableResult
public func CFNullGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSNull.self) }
/// The type of errors.
@discardableResult
public func CFErrorGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSError.self) }
/// The type of locators.
@discardableResult
public func CFURLGetTypeID() -> CFTypeID { coreFoundationTypeID(of: NSURL.self) }

/// The name of a type, such as `SecKey` or `CFString`.
///
/// - Returns: `nil` for what no `…GetTypeID` function returns.
@discardableResult
public func CFCopyTypeIDDescription(_ type_id: CFTypeID) -> CFString! { typeNames[type_id].map { $0 as NSString } }

private let typeNames: [CFTypeID: String] = [
    CFStringGetTypeID(): "CFString", CFDataGetTypeID(): "CFData", CFNumberGetTypeID(): "CFNumber",
    CFBooleanGetTypeID(): "CFBoolean", CFDictionaryGetTypeID(): "CFDictionary", CFArrayGetTypeID(): "CFArray",
    CFSetGetTypeID(): "CFSet", CFDateGetTypeID(): "CFDate", CFNullGetTypeID(): "CFNull",
    CFErrorGetTypeID(): "CFError", CFURLGetTypeID(): "CFURL", SecKeyGetTypeID(): "SecKey",
    SecCertificateGetTypeID(): "SecCertificate", SecIdentityGetTypeID(): "SecIdentity",
    SecTrustGetTypeID(): "SecTrust", SecPolicyGetTypeID(): "SecPolicy",
    SecAccessControlGetTypeID(): "SecAccessControl",
]

/// Stands for the type of Booleans, whose objects are `NSNumber`s here.
private final class BooleanType {}

/// Whether two objects are equal.
@discardableResult
public func CFEqual(_ left: CFTypeRef!, _ right: CFTypeRef!) -> Bool {
    guard let left, let right else { return left === right }
    if left === right { return true }
    guard CFGetTypeID(left) == CFGetTypeID(right) else { return false }
    if let left = left as? NSObject { return left.isEqual(right) }
    guard let left = left as? AnyHashable, let right = right as? AnyHashable else { return false }
    return left == right
}

/// A hash of `object`; the same for objects that are equal.
@discardableResult
public func CFHash(_ object: CFTypeRef!) -> CFHashCode {
    switch object {
    case let object as NSObject: UInt(bitPattern: object.hash)
    case let object as AnyHashable: UInt(bitPattern: object.hashValue)
    default: 0
    }
}

/// The Swift value of a Boolean object.
@discardableResult
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean?.boolValue ?? false }

/// Whether `number` is one of the two Boolean objects.
///
/// `NSNumber(value: true)`, a Swift `Bool` bridged to an object and ``kCFBooleanTrue`` are one and the
/// same object, which no other number is; `objCType` cannot tell a Boolean from an eight-bit integer.
package func isCFBoolean(_ number: AnyObject) -> Bool {
    number === kCFBooleanTrue || number === kCFBooleanFalse
}

/// The domain of an error.
@discardableResult
public func CFErrorGetDomain(_ error: CFError!) -> CFErrorDomain! {
    error.map { $0.domain as NSString }
}

/// The code of an error: for errors of the Security framework an ``OSStatus``.
@discardableResult
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error?.code ?? 0 }

/// What happened, in words for people.
@discardableResult
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! {
    error.map { $0.localizedDescription as NSString }
}

/// Why it happened, if that is known.
@discardableResult
public func CFErrorCopyFailureReason(_ error: CFError!) -> CFString! {
    error?.localizedFailureReason.map { $0 as NSString }
}

/// Further facts about an error.
@discardableResult
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! {
    error.map { $0.userInfo as NSDictionary }
}
