import Access
import ArgumentParser
import Bytes
import KeychainModel
import StatusCodes
import VaultInterface

/// What reading a secret takes besides an unlocked vault. Each case is a flag of Apple's access control.
package enum ItemRequirement: String, CaseIterable, ExpressibleByArgument {
    case presence
    case biometry
    case currentBiometry = "current-biometry"
    case passcode
    case password

    package var flag: AccessControl.Flags {
        switch self {
        case .presence: .userPresence
        case .biometry: .biometryAny
        case .currentBiometry: .biometryCurrentSet
        case .passcode: .devicePasscode
        case .password: .applicationPassword
        }
    }

    /// Returns the names of the requirements in `flags`.
    package static func names(in flags: AccessControl.Flags?) -> [String]? {
        guard let flags, !flags.isEmpty else { return nil }
        return allCases.filter { flags.contains($0.flag) }.map(\.rawValue)
    }

    /// Refuses requirements that nobody could meet, because no passcode is set or no finger is enrolled: what they
    /// guard could be written and never read, and it would take the place of what can be read.
    package static func check(_ require: [ItemRequirement], _ session: VaultSession) throws {
        if require.contains(where: { [.presence, .passcode].contains($0) }),
            try !session.perform(ReadStatus()).isPasscodeSet
        {
            throw Failure(
                status: VaultError.passcodeNotSet.osStatus,
                "no passcode is set, so nobody could show that a person is there: set one with `keychain passcode set` "
                    + "first, or leave --require out")
        }
        if require.contains(.biometry), !require.contains(.passcode),
            let failure = try session.perform(ReadPresenceAvailability()).biometryFailure,
            failure == .biometryNotAvailable || failure == .biometryNotEnrolled
        {
            throw Failure(
                status: VaultError.presence(failure).osStatus,
                "there is no fingerprint reader, or no finger is enrolled, so nobody could show one: choose another "
                    + "requirement, or enrol a finger with fprintd-enroll")
        }
    }
}

/// The password of an item that has one of its own.
package struct ItemPassword: ParsableArguments {
    @Option(
        name: .customLong("item-password-fd"),
        help: ArgumentHelp(
            "Read the item's own password from this open file descriptor. Without it, `keychain set` asks for a new one.",
            valueName: "n"))
    package var descriptor: Int32?

    package init() {}

    package func validate() throws { try OpenDescriptor.validate(descriptor) }

    /// Returns how an operation may ask, with the password if there is one.
    ///
    /// - Parameter isNew: Whether an item with such a password is stored. If none is given, a person types it twice.
    package func authentication(isNew: Bool = false) throws -> AuthenticationOptions {
        if let descriptor { return AuthenticationOptions(applicationPassword: try PasscodeInput.read(descriptor)) }
        return isNew ? AuthenticationOptions(applicationPassword: try askNew()) : AuthenticationOptions()
    }

    private func askNew() throws -> SecretBytes {
        guard let terminal = CommandTerminal() else {
            throw PasscodeInput.nobodyToAsk("--item-password-fd", for: "the item's own password")
        }
        return try PasscodeInput.same(
            try terminal.askSecrets(["The item's own password: ", "The same again: "]), "passwords")
    }
}
