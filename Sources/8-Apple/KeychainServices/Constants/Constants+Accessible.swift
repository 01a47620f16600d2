import Foundation

// Safe to share between threads, as `nonisolated(unsafe)` claims: each constant is a `let` that holds an object of
// exactly the class NSString (ConstantsTests), and only NSMutableString has operations that change a string. The
// class itself cannot promise it, because subclasses can change.

/// The key of when an item can be read; see the values below.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// Only while unlocked. The default.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// Since the first unlock after a start.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always, locked or not. Deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// Only while unlocked; exists only as long as a passcode is set; never leaves this device.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// Only while unlocked; never leaves this device.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// Since the first unlock after a start; never leaves this device.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always, locked or not; never leaves this device. Deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// The key of a ``SecAccessControl``: protection class and constraints in one.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
