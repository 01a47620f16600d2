import Access
import Foundation
import KeychainModel

/// Asking a person on behalf of an authentication context.
extension EmbeddedVault {
    package func presenceAvailability(as client: Client) throws(VaultError) -> PresenceAvailability {
        guard let authenticator else {
            return PresenceAvailability(
                biometryKind: .none, biometryFailure: .biometryNotAvailable, biometryState: nil,
                isPasscodeSet: passcodeVerifier.isPasscodeSet, passcodeFailure: .notInteractive)
        }
        return authenticator.availability(verifier: passcodeVerifier)
    }

    package func authenticate(
        _ flags: AccessControl.Flags, context: UUID, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> PresenceProofs {
        var presence = PresenceCheck(options)
        try presence.ask(
            for: PresenceNeeded(flags: flags), with: authenticator, verifier: passcodeVerifier, client: client)
        return presence.granted
    }

    package func endContext(_ context: UUID, as client: Client) {
        authenticator?.cancel(context: context)
    }
}
