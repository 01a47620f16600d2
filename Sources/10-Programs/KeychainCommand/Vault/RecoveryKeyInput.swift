import ArgumentParser
import Bytes
import CLibrary
import FoundationEssentials
import Keybag
import SecureMemory
import StatusCodes

/// Where a command takes a recovery key from: a descriptor, the terminal or standard input.
struct RecoveryKeyInput: ParsableArguments {
    @Option(
        name: .customLong("key-fd"),
        help: ArgumentHelp("Read the recovery key from this open file descriptor.", valueName: "n"))
    var descriptor: Int32?

    func validate() throws {
        try OpenDescriptor.validate(descriptor)
    }

    func ask() throws -> RecoveryKey {
        var typed = try readKey()
        defer { typed.wipe() }
        do {
            return try typed.withUnsafeBytes { try RecoveryKey(typed: $0) }
        } catch RecoveryKeyMistake.group(let number) {
            throw Failure.usage(
                "group \(number) of the recovery key has a typing error: compare it with what you wrote down")
        } catch RecoveryKeyMistake.length(let count) {
            throw Failure.usage(
                "this is not a recovery key: one has 13 groups of five letters and digits from 2 to 7, or of four in "
                    + "older keys, and this has \(count) letters")
        }
    }

    private func readKey() throws -> Data {
        if let descriptor { return try SecretInput.readAll(descriptor, keepingNewline: false) }
        guard isatty(0) == 1, let terminal = CommandTerminal() else {
            return try SecretInput.readAll(0, keepingNewline: false)
        }
        return try terminal.askSecrets(["Recovery key: "]).first ?? Data()
    }
}
