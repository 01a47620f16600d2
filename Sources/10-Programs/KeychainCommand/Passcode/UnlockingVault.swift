import Access
import Bytes
import FoundationEssentials
import KeychainModel
import StatusCodes
import Synchronization
import VaultInterface

/// A vault that asks for the passcode when an operation meets locked items, unlocks, and performs the operation again.
///
/// A command is a program of its own: unless a daemon keeps the vault unlocked, each finds it locked.
final class UnlockingVault: Vault {
    fileprivate let base: any Vault
    private let prompt: any PasscodePrompt
    /// How the last unlocking ended; nil before the first. Held while the vault is unlocked.
    private let unlocking = Mutex<Result<Void, VaultError>?>(nil)

    init(base: any Vault, prompt: any PasscodePrompt) {
        (self.base, self.prompt) = (base, prompt)
    }

    func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: (Operation.Part) throws(VaultError) -> Void
    ) throws(VaultError) -> Operation.Reply {
        do {
            return try base.perform(operation, as: client, send: send)
        } catch {
            guard Operation.traits.contains(.usesClassKeys), case .interactionNotAllowed = error else { throw error }
            let status = try base.perform(ReadStatus(), as: client)
            guard status.isLocked else { throw error }
            guard let passcode = try unlock(as: client, status) else {
                return try base.perform(operation, as: client, send: send)
            }
            let former = ProcessPrompt.current
            ProcessPrompt.current = JustTypedPrompt(passcode, then: former ?? prompt)
            defer { ProcessPrompt.current = former }
            return try base.perform(operation, as: client, send: send)
        }
    }

    /// Asks for the passcode and unlocks, unless another thread has done it meanwhile.
    ///
    /// A command that works on many files at once asks once, and tries a wrong passcode once: each try counts, and
    /// after some the vault may be erased.
    ///
    /// - Parameter known: The vault's state, if it was just read.
    /// - Returns: The passcode; nil if the vault was unlocked already.
    @discardableResult
    fileprivate func unlock(as client: Client, _ known: VaultStatus? = nil) throws(VaultError) -> SecretBytes? {
        try unlocking.withLock { last throws(VaultError) in
            var status = known
            if let last {
                try last.get()
                status = nil
            }
            let present = if let status { status } else { try base.perform(ReadStatus(), as: client) }
            guard present.isLocked || last == nil else { return nil }
            do throws(VaultError) {
                try present.requireNoDelay()
                let passcode = try askForPasscode()
                try base.perform(UnlockVault(with: passcode), as: client)
                last = .success(())
                VaultSession(vault: base, client: client).showUnlockFindings()
                return passcode
            } catch {
                last = .failure(error)
                throw error
            }
        }
    }

    fileprivate var canAsk: Bool { prompt.isAvailable }

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

    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        base.changes(to: audience)
    }
    func lockEvents() -> AsyncStream<LockEvent> { base.lockEvents() }
    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation { base.observeLocking(tell) }
}

extension VaultStatus {
    fileprivate var isLocked: Bool { isPasscodeSet && lockState != .unlocked }
}

/// Answers whether a person is present with the passcode that the person has just typed to unlock the vault: once, and
/// passes every other question on.
private final class JustTypedPrompt: PasscodePrompt {
    private let passcode: Mutex<SecretBytes?>
    private let next: any PasscodePrompt

    init(_ passcode: SecretBytes, then next: any PasscodePrompt) {
        self.passcode = Mutex(passcode)
        self.next = next
    }

    var isAvailable: Bool { next.isAvailable }

    private func typed(_ question: PasscodeQuestion) -> PasscodeAnswer? {
        guard question.purpose == .presence else { return nil }
        return passcode.withLock { $0.take() }.map { .passcode($0) }
    }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        typed(question) ?? next.ask(question, until: deadline)
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        typed(question) ?? next.ask(question, until: deadline, cancellation: cancellation)
    }

    func show(_ message: String) { next.show(message) }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        next.hold(message, until: deadline, cancellation: cancellation)
    }
}

extension VaultSession {
    /// Prints what the last unlocking found changed in the vault's folder.
    func showUnlockFindings() {
        // A daemon of an earlier version does not know.
        guard let findings = try? perform(ReadUnlockFindings()) else { return }
        for sentence in findings.sentences { CommandNote.show(sentence) }
    }

    /// Asks for the passcode and unlocks, if somebody can be asked.
    ///
    /// - Returns: Whether the vault is unlocked now.
    func unlockIfPossible() throws -> Bool {
        guard let unlocking = vault as? UnlockingVault, unlocking.canAsk else { return false }
        try unlocking.unlock(as: client)
        return true
    }

    /// The same session, which does not ask for the passcode when it meets what is locked.
    var withoutUnlocking: VaultSession {
        guard let unlocking = vault as? UnlockingVault else { return self }
        return VaultSession(vault: unlocking.base, client: client)
    }
}
