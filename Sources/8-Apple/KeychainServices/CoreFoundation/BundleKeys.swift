import Foundation

// Keychain code names its service after the program's bundle; these are the keys it looks that up by.
//
// Safe to share between threads for the reason that Constants+Class.swift gives.

/// The bundle's identifier in its information dictionary.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
/// The bundle's name.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"
/// The bundle's version.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"
/// The name of the bundle's executable.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
nonisolated(unsafe) public let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"
