import Access
import Bytes
import Dispatch
import Enclave
import FoundationEssentials
import Keybag
import KeychainModel
import SecureMemory
import Synchronization
import SystemLibraries
import VaultInterface

/// Locking, unlocking and checking the passcode.
extension EmbeddedVault {
    package func perform(_ operation: UnlockVault, as client: Client) throws(VaultError) {
        _ = try authorize(AccessRequest(.unlock), as: client, recordedAs: .unlocked)
        do {
            try unlockKeys(with: operation.passcode)
        } catch {
            let failure = VaultError(error)
            gate.record(.unlockFailed, by: client, failure: AuditFailure(failure))
            throw failure
        }
        gate.record(.unlocked, by: client)
    }

    private func unlockKeys(with passcode: SecretBytes) throws {
        let unlocked = try checked(passcode).unlocked
        // Another thread may have changed the passcode since.
        guard unlocked.belong(to: currentKeybag.keys) else { throw VaultError.busy }
        unlocked.unlock()
        pendingLock.withLock { $0.callOff() }
        keepFileAgreementKey()
        tellLockState()
        authenticator?.passcodeWasGiven()
    }

    package func perform(_ operation: LockVault, as client: Client) throws(VaultError) {
        let grace = operation.grace
        _ = try authorize(AccessRequest(.lock), as: client, recordedAs: .locked)
        do {
            try takeOverChangedKeybag()
        } catch {
            throw VaultError(error)
        }
        guard currentKeybag.keys.keybag.passcode != nil else { throw .passcodeNotSet }
        gate.record(.locked, by: client)
        guard grace > .zero else { return lockNow() }
        // An earlier deadline stays: a second request must not keep the vault open longer.
        guard let number = pendingLock.withLock({ $0.start(until: .now + grace) }) else { return }
        if lockState == .unlocked { lockNotifier.tellOfLocking() }
        afterGrace.withLock(\.self)(grace) { [weak self] in
            guard let self, self.pendingLock.withLock({ $0.isCurrent(number) }) else { return }
            self.lockNow()
        }
    }

    private func lockNow() {
        pendingLock.withLock { $0.callOff() }
        let keys = currentKeybag.keys
        if keys.lockState == .unlocked {
            lockNotifier.tellOfLocking()
            keys.enter(.locked)
            tellLockState()
        }
        keys.enclave.forget()
        contexts.forgetGrants()
    }

    /// Returns the verifier that checks passcodes for authenticators.
    ///
    /// Any client can cause a question and answer it itself. So wrong answers of a served program count for that
    /// program alone, and wrong answers of other clients erase the vault only if the client may erase it anyway.
    func passcodeVerifier(for client: Client) -> any PasscodeVerifier {
        EmbeddedPasscodeVerifier(
            vault: self, program: client.program,
            mayErase: client.program == nil && client.accessGroups.contains(Client.everyGroup))
    }

    /// Returns the seconds until an answer of `program` is checked again after wrong ones; 0 for the owner.
    func answerWait(of program: ServedProgram?) -> Int {
        guard let program else { return 0 }
        return Int(answers.withLock { $0.wait(for: program, now: bootClock.uptime()) }.rounded(.up))
    }

    /// A passcode that was right.
    struct CheckedPasscode {
        var protection: PasscodeProtection
        /// The stretched passcode.
        var key: LockedBytes
        var unlocked: ClassKeys.Unlocked
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
        passcodeTurn.wait()
        defer { passcodeTurn.signal() }
        do {
            try takeOverChangedKeybag()
            let keys = currentKeybag.keys
            let keybag = keys.keybag
            guard let protection = keybag.passcode else { throw VaultError.passcodeNotSet }
            let failures = try countTry(keys, answeredBy: program)
            let key: LockedBytes
            let unlocked: ClassKeys.Unlocked
            do {
                key = try protection.key(for: passcode, in: keys.enclave)
                unlocked = try keys.unwrapped(with: key)
            } catch {
                // If the enclave refused to check the passcode, the try does not count.
                if case .enclave(.lockedOut) = error, program == nil { try passcodeGuard.takeBackTry(keys) }
                guard case .wrongPasscode = error else { throw error }
                if program != nil { throw VaultError.wrongPasscode(retryAfter: answerWait(of: program)) }
                try refuse(failures: failures, mayErase ? protection.eraseAfter : nil)
            }
            try passcodeGuard.forget(keys)
            answers.withLock { $0.forget(program) }
            return CheckedPasscode(protection: protection, key: key, unlocked: unlocked)
        } catch {
            throw VaultError(error)
        }
    }

    /// - Returns: The number of wrong passcodes in a row if this one is wrong too; 0 for an answer to a question.
    private func countTry(_ keys: ClassKeys, answeredBy program: ServedProgram?) throws -> UInt32 {
        if let program {
            let wait = answers.withLock { $0.beginAnswer(of: program, now: bootClock.uptime()) }
            guard wait == 0 else { throw VaultError.passcodeDelayed(retryAfter: Int(wait.rounded(.up))) }
            return 0
        }
        switch try passcodeGuard.beginTry(keys) {
        case .refused(let wait): throw VaultError.passcodeDelayed(retryAfter: Int(wait.rounded(.up)))
        case .granted(let failures): return failures
        }
    }

    private func refuse(failures: UInt32, _ eraseAfter: UInt8?) throws -> Never {
        if let eraseAfter, failures >= eraseAfter {
            try eraseEverything(for: AccessGate.authorize(.eraseAfterWrongPasscodes))
            throw VaultError.erasedAfterWrongPasscodes
        }
        throw VaultError.wrongPasscode(retryAfter: Int(PasscodeAttempts.wait(after: failures).rounded(.up)))
    }
}

/// Checks passcodes for an authenticator.
private struct EmbeddedPasscodeVerifier: PasscodeVerifier {
    let vault: EmbeddedVault
    let program: ServedProgram?
    let mayErase: Bool

    var isPasscodeSet: Bool { vault.currentKeybag.keys.keybag.passcode != nil }

    var takesAnswers: Bool { vault.answerWait(of: program) == 0 }

    func verify(_ passcode: SecretBytes) -> PasscodeVerdict {
        do throws(VaultError) {
            _ = try vault.checked(passcode, answeredBy: program, mayErase: mayErase)
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
