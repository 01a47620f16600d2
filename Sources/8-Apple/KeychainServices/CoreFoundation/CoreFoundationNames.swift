import Foundation

// Core Foundation's names for the Foundation objects that Apple's Security functions take and return.
// On Apple systems the two are toll-free bridged; here the one is simply another name for the other,
// so `query as CFDictionary` and `item as? Data` compile and run unchanged.
// Foundation alone is enough beside this module: a file that imports the system's CoreFoundation too makes
// the names ambiguous.

/// An object of any Core Foundation type.
public typealias CFTypeRef = AnyObject
/// A string.
public typealias CFString = NSString
/// A string that can be changed.
public typealias CFMutableString = NSMutableString
/// A block of bytes.
public typealias CFData = NSData
/// A block of bytes that can be changed.
public typealias CFMutableData = NSMutableData
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// A dictionary that can be changed.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// An array that can be changed.
public typealias CFMutableArray = NSMutableArray
/// A set.
public typealias CFSet = NSSet
/// A number.
public typealias CFNumber = NSNumber
/// A Boolean: one of ``kCFBooleanTrue`` and ``kCFBooleanFalse``.
public typealias CFBoolean = NSNumber
/// A point in time.
public typealias CFDate = NSDate
/// The object that stands for nothing in a collection: ``kCFNull``.
public typealias CFNull = NSNull
/// An error. `takeRetainedValue() as Error` gives a Swift error.
public typealias CFError = NSError
/// A uniform resource locator.
public typealias CFURL = NSURL
/// A universally unique identifier.
public typealias CFUUID = NSUUID

/// A count, an index or an error code.
public typealias CFIndex = Int
/// A set of bits; ``SecAccessControlCreateFlags`` is made of them.
public typealias CFOptionFlags = UInt
/// A hash, as ``CFHash(_:)`` returns it.
public typealias CFHashCode = UInt
/// Seconds since 1 January 2001, 00:00 UTC.
public typealias CFAbsoluteTime = Double
/// A length of time in seconds.
public typealias CFTimeInterval = Double
/// A four-character code.
public typealias OSType = UInt32
/// A four-character code.
public typealias FourCharCode = UInt32

/// The type of Booleans that functions store through a pointer. Elsewhere Swift programs see `Bool`.
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Equatable, Sendable, CustomStringConvertible {
    /// The value as Swift's own type.
    public let boolValue: Bool

    /// The value in this type.
    public init(_ value: Bool) { boolValue = value }

    /// The value in this type.
    public init(booleanLiteral value: Bool) { boolValue = value }

    /// `true` or `false`.
    public var description: String { boolValue.description }
}

/// Where Core Foundation takes memory from. There is only one such place here; the parameter exists
/// so that calls written for Apple systems compile.
public final class CFAllocator: NSObject, Sendable {
    fileprivate static let standard = CFAllocator()
    fileprivate static let null = CFAllocator()

    private override init() { super.init() }
}

/// The default allocator. Equivalent to passing `nil`.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFAllocatorDefault: CFAllocator! = CFAllocator.standard

/// Allocates and frees nothing: for memory that belongs to somebody else.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFAllocatorNull: CFAllocator! = CFAllocator.null

/// The Boolean 'true', which is an object of its own and not the number 1.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
/// The Boolean 'false', which is an object of its own and not the number 0.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
/// The null object.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFNull: CFNull! = NSNull()
