import Access
import ArgumentParser
import Bytes
import FoundationEssentials
import KeychainModel
import Presence
import ProcessVault
import SecureMemory
import StatusCodes
import VaultInterface

/// Where a command takes the vault's passcode from: a descriptor or the terminal, never the command line.
package struct PasscodeInput: ParsableArguments {
    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp("Read the vault's passcode from this open file descriptor.", valueName: "n"))
    package var descriptor: Int32?

    package init() {}

    /// From the terminal, for commands that do not take the option.
    package static let none = {
        var input = PasscodeInput()
        input.descriptor = nil
        return input
    }()

    package func validate() throws { try OpenDescriptor.validate(descriptor) }

    /// How this command asks: one that is given a descriptor asks nobody.
    package var prompt: any PasscodePrompt {
        if let descriptor { DescriptorPrompt(descriptor) } else { StandardPrompt() }
    }

    /// The passcode that is set.
    package func ask(_ reason: String = "The vault's passcode is needed.") throws -> SecretBytes {
        try Self.ask(ProcessVault.prompt ?? prompt, reason)
    }

    /// The passcode that a prompt gets.
    package static func ask(_ prompt: any PasscodePrompt, _ reason: String) throws -> SecretBytes {
        switch prompt.ask(PasscodeQuestion(purpose: .unlock, reason: reason), until: .now + patience) {
        case .passcode(let passcode): return passcode
        case .canceled: throw Failure(status: errSecUserCanceled, "canceled at the prompt: nothing was changed")
        case .timedOut:
            throw Failure(status: errSecInteractionNotAllowed, "nobody gave the passcode: nothing was changed")
        case .unavailable: throw nobodyToAsk("--passcode-fd")
        }
    }

    private static let patience: Duration = .seconds(120)

    package static func read(_ descriptor: Int32) throws -> SecretBytes {
        let question = PasscodeQuestion(purpose: .unlock, reason: "")
        return switch DescriptorPrompt(descriptor).ask(question, until: .now + .seconds(120)) {
        case .passcode(let passcode): passcode
        case .unavailable(let remedy): throw Failure(status: errSecIO, exitCode: ExitStatus.other, remedy)
        case .canceled, .timedOut:
            throw Failure(
                status: errSecInteractionNotAllowed,
                "nothing was written to descriptor \(descriptor) for two minutes: write the passcode and a newline to "
                    + "it"
            )
        }
    }

    package static func only(_ answers: [Data]) throws -> SecretBytes {
        var answers = answers
        defer { for index in answers.indices { answers[index].wipe() } }
        guard let answer = answers.first, let secret = try? answer.withUnsafeBytes({ try SecretBytes(copying: $0) })
        else { throw Failure(.memoryUnavailable) }
        return secret
    }

    /// What was typed twice.
    package static func same(_ answers: [Data], _ what: String) throws -> SecretBytes {
        var typed = answers
        defer { for index in typed.indices { typed[index].wipe() } }
        guard typed.count == 2, isEqualInConstantTime(typed[0], typed[1]) else {
            throw Failure(status: errSecParam, "the two \(what) differ: nothing was changed, try again")
        }
        return try only(typed)
    }

    package static func nobodyToAsk(_ option: String, for secret: String = "the passcode") -> Failure {
        Failure(
            status: errSecInteractionNotAllowed,
            "there is no terminal to ask for \(secret) at: give it with \(option), as in \(option) 3 3< file")
    }
}

/// Where a command takes a new passcode from, and what trying it costs.
package struct NewPasscodeInput: ParsableArguments {
    @Option(
        name: .customLong("new-passcode-fd"),
        help: ArgumentHelp("Read the new passcode from this open file descriptor.", valueName: "n"))
    package var descriptor: Int32?

    @Option(
        name: .customLong("memory"),
        help: ArgumentHelp(
            "The memory in MiB that one try of the passcode takes, instead of 256 or more. Needs --passes.",
            valueName: "MiB"))
    package var memory: Int?

    @Option(
        help: ArgumentHelp(
            "How often a try goes over that memory, instead of as often as fits into a quarter of a second.",
            valueName: "n"))
    package var passes: Int?

    @Option(
        name: .customLong("erase-after"),
        help: ArgumentHelp(
            "Erase everything after this many wrong passcodes in a row. A changed passcode keeps the number; 0 takes it "
                + "away.",
            valueName: "n"))
    package var eraseAfter: Int?

    package init() {}

    package func validate() throws {
        try OpenDescriptor.validate(descriptor)
        guard (memory == nil) == (passes == nil) else {
            throw ValidationError("--memory and --passes go together")
        }
    }

    package var options: PasscodeOptions {
        let cost = memory.flatMap { memory in
            passes.map { PasscodeOptions.Cost.explicit(memoryMiB: memory, passes: $0) }
        }
        return PasscodeOptions(cost: cost ?? .interactive, eraseAfter: eraseAfter)
    }

    /// Asks a person who typed a weak passcode whether it is to be set all the same. A script is told afterwards.
    ///
    /// - Returns: Whether a person was told what the passcode is worth.
    /// - Throws: ``Failure`` unless the person agrees.
    package func confirm(_ passcode: SecretBytes, in session: VaultSession) throws -> Bool {
        // An empty one is refused anyway.
        guard descriptor == nil, !passcode.isEmpty, let terminal = CommandTerminal() else { return false }
        let condition = session.condition
        let time = guessingTime(of: passcode, costing: memory == nil ? condition.cost : nil)
        guard time.isWeak else { return false }
        let sentence = time.sentence("passcode", with: Self.files(try? session.perform(ReadStatus())))
        guard
            try terminal.ask(
                "\(sentence.prefix(1).uppercased())\(sentence.dropFirst()).\nType 'weak' to set it all the same: ")
                == "weak"
        else { throw Failure(status: errSecUserCanceled, "not confirmed: nothing was changed") }
        return true
    }

    /// Tells what a passcode that was set is worth.
    ///
    /// - Parameter isTold: Whether a person was told before.
    package func showWorth(of passcode: SecretBytes, in session: VaultSession, isTold: Bool) {
        var loss: String?
        let status = try? session.perform(ReadStatus())
        if case .absent = status?.recoveryKey {
            loss = "If it is forgotten, only a recovery key opens the vault: `keychain recovery create`"
        }
        if isTold {
            if let loss { CommandNote.show(loss) }
            return
        }
        guessingTime(of: passcode, costing: session.condition.cost)
            .show("passcode", with: Self.files(status), ifForgotten: loss)
    }

    /// - Parameter cost: What a try costs in this vault; nil for what was chosen, or else the default.
    private func guessingTime(of passcode: SecretBytes, costing cost: Argon2Cost?) -> GuessingTime {
        GuessingTime(
            passcode, memory: cost.map { Int($0.memoryKiB >> 10) } ?? memory ?? 256,
            passes: cost.map { Int($0.passes) } ?? passes ?? 2)
    }

    private static func files(_ status: VaultStatus?) -> String {
        status?.enclave == "tpm2" ? "the vault's folder and this machine's TPM" : "the vault's folder"
    }

    /// The new passcode: from the descriptor, or typed twice.
    package func ask() throws -> SecretBytes {
        if let descriptor { return try PasscodeInput.read(descriptor) }
        guard let terminal = CommandTerminal() else { throw PasscodeInput.nobodyToAsk("--new-passcode-fd") }
        return try PasscodeInput.same(
            try terminal.askSecrets(["New passcode: ", "New passcode again: "]), "passcodes")
    }
}
