import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import Keybag
import SecureMemory

/// Where a command takes a recovery key from: a descriptor, the terminal or standard input.
struct RecoveryKeyInput: ParsableArguments {
    @Option(
        name: .customLong("key-fd"),
        help: ArgumentHelp("Read the recovery key from this open file descriptor.", valueName: "n"))
    var descriptor: Int32?

    private static let groups = 13

    func validate() throws { try OpenDescriptor.validate(descriptor) }

    func ask() throws -> RecoveryKey {
        var typed = try readKey()
        defer { typed.wipe() }
        let count = Self.groupCount(typed)
        do {
            return try typed.withUnsafeBytes { try RecoveryKey(typed: $0) }
        } catch is RecoveryKeyMistake where count > Self.groups {
            throw Failure.usage("a recovery key has \(Self.groups) groups; this has \(count)")
        } catch RecoveryKeyMistake.group(let number) {
            throw Failure.usage(
                "group \(number) of the recovery key has a typing error: compare it with what you wrote down")
        } catch RecoveryKeyMistake.length(let count) {
            throw Failure.usage(
                "this is not a recovery key: one has 13 groups of five letters and digits from 2 to 7, or of four in "
                    + "older keys, and this has \(count) letters")
        }
    }

    /// Returns how many groups there are. Makes no copy of what was typed.
    private static func groupCount(_ typed: Data) -> Int {
        var (count, isInGroup) = (0, false)
        for byte in typed {
            let isSeparator = byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ")
            if !isSeparator, !isInGroup { count += 1 }
            isInGroup = !isSeparator
        }
        return count
    }

    private func readKey() throws -> Data {
        if let descriptor { return try SecretInput.readAll(descriptor, keepingNewline: false) }
        guard isatty(0) == 1, let terminal = CommandTerminal() else {
            return try SecretInput.readAll(0, keepingNewline: false)
        }
        return try terminal.askSecrets(["Recovery key: "]).first ?? Data()
    }
}
