import Access
import Bytes
import KeychainModel
import ProcessVault
import StatusCodes
import Synchronization
import VaultInterface

/// Asks for the passcode when a command meets locked items, and unlocks the vault.
///
/// A command is a program of its own: unless a daemon keeps the vault unlocked, each finds it locked.
final class CommandUnlocker: VaultUnlocker {
    private let prompt: CommandPrompt
    /// How the last unlocking ended; nil before the first. Held while the vault is unlocked.
    private let unlocking = Mutex<Result<Void, VaultError>?>(nil)

    init(_ prompt: CommandPrompt) { self.prompt = prompt }

    var canAsk: Bool { prompt.isAvailable }

    func unlock(_ session: VaultSession) throws(VaultError) { _ = try passcode(unlocking: session, nil) }

    func unlock<Result>(
        _ session: VaultSession, after error: VaultError, _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let status = try session.perform(ReadStatus())
        guard status.isLocked else { throw error }
        guard let passcode = try passcode(unlocking: session, status) else { return try body() }
        return try prompt.answering(with: passcode, body)
    }

    /// Asks for the passcode and unlocks, unless another thread has done it meanwhile.
    ///
    /// A command that works on many files at once asks once, and tries a wrong passcode once: each try counts, and
    /// after some the vault may be erased.
    ///
    /// - Parameter known: The vault's state, if it was just read.
    /// - Returns: The passcode; nil if the vault was unlocked already.
    private func passcode(
        unlocking session: VaultSession, _ known: VaultStatus?
    ) throws(VaultError) -> SecretBytes? {
        try unlocking.withLock { last throws(VaultError) in
            var status = known
            if let last {
                try last.get()
                status = nil
            }
            let present = if let status { status } else { try session.perform(ReadStatus()) }
            guard present.isLocked || last == nil else { return nil }
            do throws(VaultError) {
                try present.requireNoDelay()
                let passcode = try askForPasscode()
                try session.perform(UnlockVault(with: passcode))
                last = .success(())
                session.showUnlockFindings()
                return passcode
            } catch {
                last = .failure(error)
                throw error
            }
        }
    }

    private func askForPasscode() throws(VaultError) -> SecretBytes {
        guard prompt.isAvailable else {
            throw .interactionNotAllowed(
                reason: "the vault is locked: unlock it with `keychain unlock` if keychaind runs, "
                    + "or give the passcode with --passcode-fd")
        }
        do {
            return try PasscodeInput.ask(prompt, "The vault is locked.")
        } catch {
            let failure = Failure(error)
            throw failure.status == errSecUserCanceled ? .userCanceled : .interactionNotAllowed(reason: failure.message)
        }
    }
}

extension VaultStatus {
    fileprivate var isLocked: Bool { isPasscodeSet && lockState != .unlocked }
}

/// The prompt of a command. It answers the first question for a person's presence with the passcode that the person has
/// just typed to unlock the vault, and passes all other questions on.
final class CommandPrompt: PasscodePrompt {
    private let typed = Mutex<SecretBytes?>(nil)
    private let next: any PasscodePrompt

    init(_ next: any PasscodePrompt) { self.next = next }

    var isAvailable: Bool { next.isAvailable }

    /// Runs `body`, whose first question for a person's presence is answered with `passcode`.
    func answering<Result>(
        with passcode: SecretBytes, _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        // A command that serves requests has opened other sessions meanwhile, each with a prompt.
        ProcessVault.prompt = self
        typed.withLock { $0 = passcode }
        defer { typed.withLock { $0 = nil } }
        return try body()
    }

    private func known(_ question: PasscodeQuestion) -> PasscodeAnswer? {
        guard question.purpose == .presence else { return nil }
        return typed.withLock { $0.take() }.map { .passcode($0) }
    }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        known(question) ?? next.ask(question, until: deadline)
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        known(question) ?? next.ask(question, until: deadline, cancellation: cancellation)
    }

    func show(_ message: String) { next.show(message) }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        next.hold(message, until: deadline, cancellation: cancellation)
    }
}

extension VaultSession {
    /// Prints what the last unlocking found changed in the vault's folder.
    package func showUnlockFindings() {
        // A daemon of an earlier version does not know.
        guard let findings = try? perform(ReadUnlockFindings()) else { return }
        for sentence in findings.sentences { CommandNote.show(sentence) }
    }
}
