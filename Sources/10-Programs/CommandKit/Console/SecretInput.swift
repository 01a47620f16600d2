import ArgumentParser
import CLibrary
import FoundationEssentials
import KeychainModel
import StatusCodes

/// Where a command takes a secret from. Never from the command line: every user of the machine can read the arguments
/// of a process, and shells keep them in their history.
package struct SecretInput: ParsableArguments {
    /// The largest number of bytes to read: more than an item can hold.
    private static let limit = ItemLimits.value + 1

    @Flag(help: "Read the secret from standard input. This is the default if standard input is not a terminal.")
    package var stdin = false

    @Option(
        name: .customLong("secret-fd"),
        help: ArgumentHelp("Read the secret from this open file descriptor.", valueName: "n"))
    package var descriptor: Int32?

    @Flag(
        name: [.customLong("raw"), .customLong("binary")],
        help: "Keep a newline at the end of what is read; otherwise it is removed.")
    package var raw = false

    @Flag(name: .customLong("allow-empty"), help: "Accept an empty secret.")
    package var allowEmpty = false

    package init() {}

    /// Whether an option says where the secret comes from.
    package var isGiven: Bool { stdin || descriptor != nil || raw }

    package func validate() throws {
        if stdin, descriptor != nil {
            throw ValidationError("--stdin and --secret-fd exclude each other")
        }
        try OpenDescriptor.validate(descriptor)
    }

    /// Reads the secret from the descriptor or from standard input, or has it typed twice.
    package func read() throws(Failure) -> Data {
        let secret =
            if let descriptor {
                try Self.readAll(descriptor, keepingNewline: raw)
            } else if stdin || isatty(0) == 0 {
                try Self.readAll(0, keepingNewline: raw)
            } else {
                try Self.readTwice("Secret: ", "Secret again: ")
            }
        guard allowEmpty || !secret.isEmpty else {
            throw Failure(
                status: errSecParam,
                "the secret is empty: give one, or say --allow-empty, or remove the item with `keychain delete`")
        }
        return secret
    }

    package static func readTwice(_ first: String, _ second: String) throws(Failure) -> Data {
        guard let terminal = CommandTerminal() else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "there is no terminal to ask for the secret at: give it on standard input")
        }
        let typed = try terminal.askSecrets([first, second])
        guard let secret = typed.first, secret == typed.last else {
            throw Failure(status: errSecParam, "the two secrets differ: nothing was changed, try again")
        }
        return secret
    }

    /// Reads a secret that is there already, so that a mistake in it shows: from standard input, or typed once.
    package static func readOnce(_ question: String) throws -> Data {
        guard isatty(0) == 1 else { return try readAll(0, keepingNewline: false) }
        guard let terminal = CommandTerminal() else {
            throw Failure(
                status: errSecInteractionNotAllowed, "there is no terminal to ask at: give it on standard input")
        }
        return try terminal.askSecrets([question]).first ?? Data()
    }

    package static func readAll(_ descriptor: Int32, keepingNewline: Bool) throws(Failure) -> Data {
        do throws(DescriptorReader.Failure) {
            return try DescriptorReader.readAll(descriptor, limit: limit, keepingNewline: keepingNewline)
        } catch {
            switch error {
            case .tooLong:
                throw Failure(
                    status: errSecDataTooLarge,
                    "the secret has more than the \(ItemLimits.value >> 20) MiB an item can hold: "
                        + "keep a key here and the data elsewhere")
            case .system(let code):
                throw Failure(
                    status: errSecIO, exitCode: ExitStatus.other,
                    "the secret cannot be read from descriptor \(descriptor) (\(String(cString: strerror(code)))): "
                        + "open it for reading")
            }
        }
    }
}
