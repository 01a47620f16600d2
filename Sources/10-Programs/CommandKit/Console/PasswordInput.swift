import ArgumentParser
import Bytes
import StatusCodes

/// Where a command takes the password of a file from: a descriptor or the terminal, never the command line.
package struct PasswordInput: ParsableArguments {
    @Option(
        name: .customLong("password-fd"),
        help: ArgumentHelp("Read the password from this open file descriptor, up to a newline.", valueName: "n"))
    package var descriptor: Int32?

    package init() {}

    package func validate() throws { try OpenDescriptor.validate(descriptor) }

    /// The password of a new file, typed twice.
    package func askNew() throws -> SecretBytes {
        if let descriptor { return try Self.read(descriptor) }
        let answers = try terminal().askSecrets(["Password: ", "Password again: "])
        return try Self.nonempty(PasscodeInput.same(answers, "passwords"))
    }

    /// The password of an existing file.
    package func ask() throws -> SecretBytes {
        if let descriptor { return try Self.read(descriptor) }
        return try Self.nonempty(PasscodeInput.only(terminal().askSecrets(["Password: "])))
    }

    private func terminal() throws -> CommandTerminal {
        guard let terminal = CommandTerminal() else {
            throw PasscodeInput.nobodyToAsk("--password-fd", for: "the password")
        }
        return terminal
    }

    private static func read(_ descriptor: Int32) throws -> SecretBytes {
        do {
            return try nonempty(PasscodeInput.read(descriptor))
        } catch {
            var failure = Failure(error)
            failure.message = failure.message.replacing("passcode", with: "password")
            throw failure
        }
    }

    private static func nonempty(_ password: SecretBytes) throws -> SecretBytes {
        guard !password.isEmpty else {
            throw Failure(status: errSecParam, "the password is empty: give one of at least one character")
        }
        return password
    }
}
