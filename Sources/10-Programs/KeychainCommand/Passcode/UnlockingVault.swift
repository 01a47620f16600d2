import Access
import Bytes
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// A vault that asks for the passcode when an operation meets locked items, unlocks, and performs the operation again.
///
/// A command is a program of its own: unless a daemon keeps the vault unlocked, each finds it locked.
final class UnlockingVault: Vault {
    fileprivate let base: any Vault
    private let prompt: any PasscodePrompt

    init(base: any Vault, prompt: any PasscodePrompt) {
        (self.base, self.prompt) = (base, prompt)
    }

    func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: (Operation.Part) throws(VaultError) -> Void
    ) throws(VaultError) -> Operation.Reply {
        do {
            return try base.perform(operation, as: client, send: send)
        } catch {
            guard Operation.traits.contains(.usesClassKeys), case .interactionNotAllowed = error,
                try isLocked(as: client)
            else { throw error }
            try base.perform(UnlockVault(with: askForPasscode()), as: client)
            return try base.perform(operation, as: client, send: send)
        }
    }

    private func isLocked(as client: Client) throws(VaultError) -> Bool {
        let status = try base.perform(ReadStatus(), as: client)
        return status.isPasscodeSet && status.lockState != .unlocked
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

    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        base.changes(to: audience)
    }
    func lockEvents() -> AsyncStream<LockEvent> { base.lockEvents() }
    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation { base.observeLocking(tell) }
}

extension VaultSession {
    /// The same session, which does not ask for the passcode when it meets what is locked.
    var withoutUnlocking: VaultSession {
        guard let unlocking = vault as? UnlockingVault else { return self }
        return VaultSession(vault: unlocking.base, client: client)
    }
}
