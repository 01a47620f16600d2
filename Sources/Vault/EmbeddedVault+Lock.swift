import Access
import Dispatch
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import Synchronization

/// Locking, unlocking and checking the passcode.
extension EmbeddedVault {
    package func unlock(with passcode: SecretBytes, as client: Client) throws(VaultError) {
        _ = try authorize(.unlock, nil, nil, client)
        do throws(VaultError) {
            try unlockKeys(with: passcode)
        } catch {
            gate.record(.unlockFailed, by: client, failure: AuditFailure(error))
            throw error
        }
        gate.record(.unlocked, by: client)
    }

    private func unlockKeys(with passcode: SecretBytes) throws(VaultError) {
        let (_, key) = try checked(passcode)
        do {
            try currentKeybag.keys.unlock(with: key)
        } catch {
            throw VaultError(error)
        }
        pendingLock.withLock { $0.callOff() }
        authenticator?.passcodeWasGiven()
    }

    package func lock(after grace: Duration, as client: Client) throws(VaultError) {
        _ = try authorize(.lock, nil, nil, client)
        do {
            try takeOverChangedKeybag()
        } catch {
            throw VaultError(error)
        }
        guard currentKeybag.keys.keybag.passcode != nil else { throw .passcodeNotSet }
        gate.record(.locked, by: client)
        guard grace > .zero else { return lockNow() }
        // What is to lock sooner still does: asking again must not keep a vault open.
        guard let number = pendingLock.withLock({ $0.start(until: .now + grace) }) else { return }
        let seconds = Double(grace.components.seconds) + Double(grace.components.attoseconds) / 1e18
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
            guard let self, self.pendingLock.withLock({ $0.isCurrent(number) }) else { return }
            self.lockNow()
        }
    }

    private func lockNow() {
        pendingLock.withLock { $0.callOff() }
        let keys = currentKeybag.keys
        if keys.lockState == .unlocked { keys.enter(.locked) }
        contexts.forgetGrants()
    }

    /// What checks passcodes for authenticators.
    ///
    /// Any client can have a question put and answer it itself, so that wrong answers to one erase the vault only for
    /// those who may erase it anyway. They count and delay for all.
    func passcodeVerifier(for client: Client) -> any PasscodeVerifier {
        EmbeddedPasscodeVerifier(vault: self, mayErase: client.accessGroups.contains(Client.everyGroup))
    }

    /// The key that the passcode stretches to, once it is known to be the right one.
    ///
    /// - Parameter mayErase: Whether this wrong passcode may be the one that erases the vault.
    /// - Throws: ``VaultError/wrongPasscode(retryAfter:)``, ``VaultError/passcodeDelayed(retryAfter:)`` or
    ///   ``VaultError/erasedAfterWrongPasscodes``.
    func checked(
        _ passcode: SecretBytes, mayErase: Bool = true
    ) throws(VaultError) -> (protection: PasscodeProtection, key: LockedBytes) {
        do {
            try takeOverChangedKeybag()
            let keys = currentKeybag.keys
            let keybag = keys.keybag
            guard let protection = keybag.passcode else { throw VaultError.passcodeNotSet }
            let failures: UInt32
            switch try passcodeGuard.beginTry(keys) {
            case .refused(let wait): throw VaultError.passcodeDelayed(retryAfter: Int(wait.rounded(.up)))
            case .granted(let count): failures = count
            }
            let key = try protection.key(for: passcode)
            do {
                _ = try keybag.unwrapKey(for: .whenUnlocked, in: keys.enclave, with: key)
            } catch {
                guard case .wrongPasscode = error else { throw error }
                try refuse(failures: failures, mayErase ? protection.eraseAfter : nil)
            }
            try passcodeGuard.forget(keys)
            return (protection, key)
        } catch {
            throw VaultError(error)
        }
    }

    private func refuse(failures: UInt32, _ eraseAfter: UInt8?) throws -> Never {
        if let eraseAfter, failures >= eraseAfter {
            try eraseEverything()
            throw VaultError.erasedAfterWrongPasscodes
        }
        throw VaultError.wrongPasscode(retryAfter: Int(PasscodeAttempts.wait(after: failures).rounded(.up)))
    }
}

/// Lets an authenticator have a passcode checked.
private struct EmbeddedPasscodeVerifier: PasscodeVerifier {
    let vault: EmbeddedVault
    let mayErase: Bool

    var isPasscodeSet: Bool { vault.currentKeybag.keys.keybag.passcode != nil }

    func verify(_ passcode: SecretBytes) -> PasscodeVerdict {
        do throws(VaultError) {
            _ = try vault.checked(passcode, mayErase: mayErase)
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
