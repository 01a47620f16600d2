import Foundation

/// The domain of an error: a string.
public typealias CFErrorDomain = CFString

/// A new error.
///
/// - Parameters:
///   - allocator: Ignored; pass `nil`.
///   - domain: Whose codes they are, such as ``kCFErrorDomainOSStatus``.
///   - code: The code within the domain.
///   - userInfo: Further facts, under the keys below, which are strings; `nil` for none.
/// - Returns: `nil` without a domain.
@discardableResult
public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    guard let domain else { return nil }
    return NSError(domain: domain.description, code: code, userInfo: userInfo as? [String: Any] ?? [:])
}

// Safe to share between threads for the reason that Constants+Class.swift gives.

/// The domain of the codes of `errno`.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorDomainPOSIX: CFErrorDomain! = "NSPOSIXErrorDomain"
/// The domain of the codes of the Security framework.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorDomainOSStatus: CFErrorDomain! = "NSOSStatusErrorDomain"
/// The domain of the codes of Apple's kernel.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorDomainMach: CFErrorDomain! = "NSMachErrorDomain"
/// The domain of the codes of Foundation.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorDomainCocoa: CFErrorDomain! = "NSCocoaErrorDomain"

/// The key of the whole text for people. String.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorLocalizedDescriptionKey: CFString! = "NSLocalizedDescription"
/// The key of what failed, for people. String.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorLocalizedFailureKey: CFString! = "NSLocalizedFailure"
/// The key of why it failed, for people. String.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorLocalizedFailureReasonKey: CFString! = "NSLocalizedFailureReason"
/// The key of what to do about it, for people. String.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorLocalizedRecoverySuggestionKey: CFString! = "NSLocalizedRecoverySuggestion"
/// The key of a description for developers. String.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorDescriptionKey: CFString! = "NSDescription"
/// The key of the error that caused this one.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorUnderlyingErrorKey: CFString! = "NSUnderlyingError"
/// The key of the locator that the error is about. URL.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorURLKey: CFString! = "NSURL"
/// The key of the file that the error is about. String.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFErrorFilePathKey: CFString! = "NSFilePath"
