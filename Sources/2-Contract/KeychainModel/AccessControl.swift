/// What must hold before an item's value may be used: its protection class and the constraints of a
/// `SecAccessControl`.
package struct AccessControl: Hashable, Sendable {
    /// The flag bits of `SecAccessControlCreateFlags` (Apple, SecAccessControl.h).
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static let userPresence = Flags(rawValue: 1 << 0)
        package static let biometryAny = Flags(rawValue: 1 << 1)
        package static let biometryCurrentSet = Flags(rawValue: 1 << 3)
        package static let devicePasscode = Flags(rawValue: 1 << 4)
        package static let companion = Flags(rawValue: 1 << 5)
        package static let or = Flags(rawValue: 1 << 14)
        package static let and = Flags(rawValue: 1 << 15)
        package static let privateKeyUsage = Flags(rawValue: 1 << 30)
        package static let applicationPassword = Flags(rawValue: 1 << 31)

        /// Every bit that has a meaning. What another asks for is not known, and so never met.
        package static let known: Flags = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
            .applicationPassword,
        ]

        /// The flags that ask for a person.
        package static let presence: Flags = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
        ]
    }

    package var protection: ProtectionClass
    /// Nil for the protection-only control that every plain item has; a control made by
    /// `SecAccessControlCreateWithFlags` always has flags, even if they are empty.
    package var flags: Flags?

    package init(protection: ProtectionClass, flags: Flags? = nil) {
        self.protection = protection
        self.flags = flags
    }

    /// Whether reading the value needs a person or a further password.
    package var isConstrained: Bool {
        guard let flags else { return false }
        return !flags.isDisjoint(with: Flags.presence.union(.applicationPassword)) || !flags.isSubset(of: .known)
    }

    /// Apple's validity rules for flags (SecAccessControl.m): no bits without a meaning, `or` excludes `and`, the two
    /// kinds of biometry exclude each other, and user presence stands alone but for an application password and
    /// private-key usage.
    package static func isValid(_ flags: Flags) -> Bool {
        guard flags.isSubset(of: .known) else { return false }
        if flags.isSuperset(of: [.or, .and]) { return false }
        if flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) { return false }
        if flags.contains(.userPresence),
            !flags.subtracting([.userPresence, .applicationPassword, .privateKeyUsage]).isEmpty
        {
            return false
        }
        return true
    }
}
