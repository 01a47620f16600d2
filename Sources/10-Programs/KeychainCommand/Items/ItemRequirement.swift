import ArgumentParser
import FoundationEssentials
import KeychainModel
import Presence

/// What must hold beside the lock before a secret can be read: the flags of Apple's access control, one each.
enum ItemRequirement: String, CaseIterable, ExpressibleByArgument {
    case presence
    case biometry
    case currentBiometry = "current-biometry"
    case passcode
    case password

    var flag: AccessControl.Flags {
        switch self {
        case .presence: .userPresence
        case .biometry: .biometryAny
        case .currentBiometry: .biometryCurrentSet
        case .passcode: .devicePasscode
        case .password: .applicationPassword
        }
    }

    /// The requirements in `flags`.
    static func names(in flags: AccessControl.Flags?) -> [String]? {
        guard let flags, !flags.isEmpty else { return nil }
        return allCases.filter { flags.contains($0.flag) }.map(\.rawValue)
    }
}

/// The further password of an item that asks for one.
struct ItemPassword: ParsableArguments {
    @Option(
        name: .customLong("item-password-fd"),
        help: ArgumentHelp(
            "Read the item's own password from this open file descriptor; a new one is else asked for at the terminal.",
            valueName: "n"))
    var descriptor: Int32?

    func validate() throws {
        try OpenDescriptor.validate(descriptor)
    }

    /// How an operation may ask, and the password if there is one.
    ///
    /// - Parameter isNew: Whether an item is stored that wants one: where none is given, it is typed twice.
    func authentication(isNew: Bool = false) throws(Failure) -> AuthenticationOptions {
        if let descriptor { return AuthenticationOptions(applicationPassword: try PasscodeInput.read(descriptor)) }
        return isNew ? AuthenticationOptions(applicationPassword: try askNew()) : AuthenticationOptions()
    }

    private func askNew() throws(Failure) -> SecretBytes {
        guard let terminal = Terminal() else {
            throw PasscodeInput.nobodyToAsk("--item-password-fd", for: "the item's own password")
        }
        return try PasscodeInput.same(
            try terminal.askSecrets(["The item's own password: ", "The same again: "]), "passwords")
    }
}
