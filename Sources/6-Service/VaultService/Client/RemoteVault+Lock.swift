import Access
import FoundationEssentials
import KeychainModel
import VaultInterface

/// The passcode, the lock and the person.
extension RemoteVault {
    package func setPasscode(
        _ passcode: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        try done(.setPasscode(passcode, options), as: client)
    }

    package func changePasscode(
        from passcode: SecretBytes, to next: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        try done(.changePasscode(passcode, to: next, options), as: client)
    }

    package func removePasscode(_ passcode: SecretBytes, as client: Client) throws(VaultError) {
        try done(.removePasscode(passcode), as: client)
    }

    package func unlock(with passcode: SecretBytes, as client: Client) throws(VaultError) {
        try done(.unlock(passcode), as: client)
    }

    package func lock(after grace: Duration, as client: Client) throws(VaultError) {
        try done(.lock(after: grace), as: client)
    }

    package func presenceAvailability(as client: Client) throws(VaultError) -> PresenceAvailability {
        guard case .availability(let availability) = try call(.presenceAvailability, as: client).reply else {
            throw Self.nonsense
        }
        return availability
    }

    package func authenticate(
        _ flags: AccessControl.Flags, context: UUID, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> PresenceProofs {
        let reply = try call(.authenticate(flags, context: context, options), as: client).reply
        guard case .proofs(let proofs) = reply else { throw Self.nonsense }
        return proofs
    }

    package func endContext(_ context: UUID, as client: Client) {
        // A daemon that is gone has forgotten the context.
        try? done(.endContext(context), as: client)
    }
}
