import Access
import Bytes
import Dispatch
import Enclave
import FoundationEssentials
import Keybag
import SecureMemory
import Synchronization
import SystemLibraries
import VaultInterface

/// A passcode that was right.
struct CheckedPasscode {
    var protection: PasscodeProtection
    /// What the enclave made of the stretched passcode.
    var key: LockedBytes
    var unlocked: ClassKeys.Unlocked
}

/// Checks passcodes, and erases the vault after as many wrong ones as its owner allowed.
final class PasscodeCheck: Sendable {
    let tries: PasscodeGuard
    private let vault: OpenedVault
    private let clock: BootClock
    /// Held while a passcode is checked. A try is counted before it is known to be right, so tries at the same time
    /// would add up to too many.
    private let turn = DispatchSemaphore(value: 1)
    /// In memory only: a program that can restart the process that serves the vault can also read its folder, and guess
    /// the passcode there.
    private let answers = Mutex(AnswerBudget())

    init(_ vault: OpenedVault, clock: BootClock) {
        self.vault = vault
        self.clock = clock
        tries = PasscodeGuard(folder: vault.folder?.folder, clock: clock)
    }

    /// Counts a try, stretches the passcode, and unwraps the class keys with it.
    ///
    /// - Parameters:
    ///   - program: The program that answered a question with the passcode; nil for a client that may unlock.
    ///   - mayErase: Whether this wrong passcode may be the one that erases the vault.
    /// - Throws: ``VaultError/wrongPasscode(retryAfter:)``, ``VaultError/passcodeDelayed(retryAfter:)`` or
    ///   ``VaultError/erasedAfterWrongPasscodes``.
    func checked(
        _ passcode: SecretBytes, answeredBy program: ServedProgram? = nil, mayErase: Bool = true
    ) throws(VaultError) -> CheckedPasscode {
        turn.wait()
        defer { turn.signal() }
        do {
            try vault.takeOverChangedKeybag()
            let keys = vault.keys
            guard let protection = keys.keybag.passcode else { throw VaultError.passcodeNotSet }
            let failures = try countTry(keys, answeredBy: program)
            let key: LockedBytes
            let unlocked: ClassKeys.Unlocked
            do {
                key = try protection.key(for: passcode, in: keys.enclave)
                unlocked = try keys.unwrapped(with: key)
            } catch {
                // If the enclave refused to check the passcode, the try does not count.
                if case .enclave(.lockedOut) = error, program == nil { try tries.takeBackTry(keys) }
                guard case .wrongPasscode = error else { throw error }
                if program != nil { throw VaultError.wrongPasscode(retryAfter: answerWait(of: program)) }
                try refuse(failures: failures, mayErase ? protection.eraseAfter : nil)
            }
            try tries.forget(keys)
            answers.withLock { $0.forget(program) }
            return CheckedPasscode(protection: protection, key: key, unlocked: unlocked)
        } catch {
            throw VaultError(error)
        }
    }

    /// - Returns: The number of wrong passcodes in a row if this one is wrong too; 0 for an answer to a question.
    private func countTry(_ keys: ClassKeys, answeredBy program: ServedProgram?) throws -> UInt32 {
        if let program {
            let wait = answers.withLock { $0.beginAnswer(of: program, now: clock.uptime()) }
            guard wait == 0 else { throw VaultError.passcodeDelayed(retryAfter: Int(clamping: wait.rounded(.up))) }
            return 0
        }
        switch try tries.beginTry(keys) {
        case .refused(let wait): throw VaultError.passcodeDelayed(retryAfter: Int(clamping: wait.rounded(.up)))
        case .granted(let failures): return failures
        }
    }

    private func refuse(failures: UInt32, _ eraseAfter: UInt8?) throws -> Never {
        if let eraseAfter, failures >= eraseAfter {
            try vault.keyChange.erase(for: AccessGate.authorize(.eraseAfterWrongPasscodes))
            throw VaultError.erasedAfterWrongPasscodes
        }
        throw VaultError.wrongPasscode(retryAfter: Int(clamping: PasscodeAttempts.wait(after: failures).rounded(.up)))
    }

    /// Returns the seconds until an answer of `program` is checked again after wrong ones; 0 for the owner.
    func answerWait(of program: ServedProgram?) -> Int {
        guard let program else { return 0 }
        return Int(clamping: answers.withLock { $0.wait(for: program, now: clock.uptime()) }.rounded(.up))
    }

    /// Returns the verifier that checks passcodes for authenticators.
    ///
    /// Any client can cause a question and answer it itself. So wrong answers of a served program count for that
    /// program alone, and wrong answers of other clients erase the vault only if the client may erase it anyway.
    func verifier(for client: Client) -> any PasscodeVerifier {
        Verifier(
            check: self, program: client.program,
            mayErase: client.program == nil && client.accessGroups.contains(Client.everyGroup))
    }

    /// Checks passcodes for an authenticator.
    private struct Verifier: PasscodeVerifier {
        let check: PasscodeCheck
        let program: ServedProgram?
        let mayErase: Bool

        var isPasscodeSet: Bool { check.vault.keys.keybag.passcode != nil }

        var takesAnswers: Bool { check.answerWait(of: program) == 0 }

        func verify(_ passcode: SecretBytes) -> PasscodeVerdict {
            do throws(VaultError) {
                _ = try check.checked(passcode, answeredBy: program, mayErase: mayErase)
                return .correct
            } catch {
                return switch error {
                case .wrongPasscode(let seconds): .wrong(wait: .seconds(seconds))
                case .passcodeDelayed(let seconds): .delayed(.seconds(seconds))
                case .passcodeNotSet: .notSet
                case .erasedAfterWrongPasscodes: .erased
                default: .failed(reason: error.description)
                }
            }
        }
    }
}
