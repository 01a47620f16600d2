import KeychainModel

extension Keychain {
    /// What must hold before the value of an item is handed out: the flags of Apple's
    /// `SecAccessControlCreateFlags`.
    ///
    /// Several conditions without ``or`` must all hold. Storing a new item and removing one never asks;
    /// reading one and storing over it does.
    ///
    /// ```swift
    /// let keychain = Keychain(service: "com.example.bank", accessControl: .userPresence)
    /// ```
    public struct AccessControl: OptionSet, Sendable, Hashable {
        /// The bits, with Apple's values (SecAccessControl.h).
        public let rawValue: UInt64

        /// The flags with these bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// A person is there: a fingerprint, else the passcode. Goes with no other condition but
        /// ``applicationPassword``.
        public static let userPresence = AccessControl(rawValue: 1 << 0)
        /// Any enrolled fingerprint or face.
        public static let biometryAny = AccessControl(rawValue: 1 << 1)
        /// A fingerprint or face enrolled when the item was stored; a change of the enrolment makes the
        /// item unusable. Excludes ``biometryAny``.
        public static let biometryCurrentSet = AccessControl(rawValue: 1 << 3)
        /// The vault's passcode.
        public static let devicePasscode = AccessControl(rawValue: 1 << 4)
        /// A paired companion device.
        public static let companion = AccessControl(rawValue: 1 << 5)
        /// One of the conditions is enough. Excludes ``and``.
        public static let or = AccessControl(rawValue: 1 << 14)
        /// All conditions must hold, which is so without it too.
        public static let and = AccessControl(rawValue: 1 << 15)
        /// A further password that the program supplies.
        public static let applicationPassword = AccessControl(rawValue: 1 << 31)

        func flags() throws -> KeychainModel.AccessControl.Flags {
            let flags = KeychainModel.AccessControl.Flags(rawValue: rawValue)
            guard KeychainModel.AccessControl.isValid(flags) else {
                throw KeychainError.invalidRequest(
                    "these access control flags are not known or exclude each other; see Keychain.AccessControl")
            }
            return flags
        }
    }

    /// Whether and how a person may be asked when an item with an ``AccessControl`` is read or changed.
    public struct Interaction: Sendable, Hashable {
        enum Policy: Hashable { case allow, fail, skip }
        let policy: Policy

        /// What the prompt says; nil for the vault's own words.
        public let prompt: String?

        /// Ask, in the vault's own words.
        public static let allowed = Interaction(policy: .allow, prompt: nil)

        /// Ask, saying what for.
        public static func allowed(prompt: String) -> Interaction {
            Interaction(policy: .allow, prompt: prompt)
        }

        /// Do not ask: reading or changing such an item fails with
        /// ``KeychainError/Code/interactionNotAllowed``.
        public static let forbidden = Interaction(policy: .fail, prompt: nil)

        /// Do not ask: reading leaves such items out as if they were not there; changing one fails as with
        /// ``forbidden``.
        public static let skipped = Interaction(policy: .skip, prompt: nil)

        var options: AuthenticationOptions {
            switch policy {
            case .allow: AuthenticationOptions(interaction: .allow, prompt: prompt)
            case .fail: AuthenticationOptions(interaction: .fail)
            case .skip: AuthenticationOptions(interaction: .skip)
            }
        }
    }
}
