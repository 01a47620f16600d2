import Foundation
import KeychainServices

/// A name of Apple's public headers, compared with ours.
///
/// An entry compiles only if the name is there, with Apple's argument labels. ``difference`` says whether its type is
/// not the one that a Swift program on iOS sees.
///
/// The list was made from the headers that Apple published as Security-61901.0.87.0.1: SecBase.h, SecItem.h, SecKey.h,
/// SecIdentity.h, SecAccessControl.h, SecRandom.h, SecImportExport.h, SecCertificate.h, SecTrust.h, SecPolicy.h and
/// SecSharedCredential.h. The Swift compiler imported them as a module, with the macros of iOS and beside Core
/// Foundation's types, and `swift-symbolgraph-extract` wrote down what it saw. Clang gave the numbers. Names whose
/// availability leaves iOS out were removed. `Boolean` was replaced by `Bool`, and `dispatch_queue_t` by
/// `DispatchQueue`, as Apple's toolchain does.
struct AppleName: Sendable {
    let name: String
    /// Nil if there is none.
    let difference: String?

    private init(_ name: String, is found: Any.Type, expected: Any.Type) {
        self.name = name
        difference = found == expected ? nil : "\(name) has the type \(found), not \(expected)"
    }

    private init<Value: Equatable>(_ name: String, _ value: Value, expected: Value) {
        self.name = name
        difference = value == expected ? nil : "\(name) is \(value), not \(expected)"
    }

    static func constant<Found>(_ name: String, _ constant: Found, _ type: Any.Type) -> AppleName {
        AppleName(name, is: Found.self, expected: type)
    }

    /// - Parameter type: With `@Sendable`, which the compiler adds to the type of each function outside a type.
    static func function<Found>(_ name: String, _ function: Found, _ type: Any.Type) -> AppleName {
        AppleName(name, is: Found.self, expected: type)
    }

    /// An alias of another type.
    static func alias(_ name: String, _ alias: Any.Type, _ type: Any.Type) -> AppleName {
        AppleName(name, is: alias, expected: type)
    }

    static func code(_ name: String, _ code: OSStatus, _ number: OSStatus) -> AppleName {
        AppleName(name, code, expected: number)
    }

    static func flag(_ name: String, _ flag: CFOptionFlags, _ bits: CFOptionFlags) -> AppleName {
        AppleName(name, flag, expected: bits)
    }

    /// A class of objects that Core Foundation's functions take.
    static func `class`(_ name: String, _ type: AnyClass) -> AppleName {
        AppleName(name, "\(type)", expected: name)
    }

    static func options<Options: OptionSet>(_ name: String, _ type: Options.Type, _ raw: Any.Type) -> AppleName {
        AppleName(name, is: Options.RawValue.self, expected: raw)
    }

    static func enumeration<Cases: RawRepresentable>(_ name: String, _ type: Cases.Type, _ raw: Any.Type) -> AppleName {
        AppleName(name, is: Cases.RawValue.self, expected: raw)
    }

    /// A structure around a string, which takes any string.
    static func strings<Strings: RawRepresentable & Hashable>(
        _ name: String, _ type: Strings.Type, _ raw: Any.Type
    ) -> AppleName {
        AppleName(name, is: Strings.RawValue.self, expected: raw)
    }

    /// A case of an enumeration, or one of a set of options.
    static func member<Member: RawRepresentable>(
        _ name: String, _ member: Member, _ type: Member.Type, _ number: Member.RawValue
    ) -> AppleName where Member.RawValue: FixedWidthInteger {
        AppleName(name, member.rawValue, expected: number)
    }

    /// A string of a structure around strings.
    static func member<Member: RawRepresentable>(_ name: String, _ member: Member, _ type: Member.Type) -> AppleName {
        AppleName(name, is: Member.RawValue.self, expected: CFString.self)
    }
}
