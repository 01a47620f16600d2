import Access
import FoundationEssentials
import KeychainModel

/// Asking a person on behalf of an authentication context, apart from any item.
///
/// What a person has shown is kept by the vault under the context's identifier, and not by the program:
/// an operation that names the context needs no further asking for what was granted.
package protocol VaultPresence: Sendable {
    /// What a person could be asked for now; asks nobody.
    func presenceAvailability(as client: Client) throws(VaultError) -> PresenceAvailability

    /// Asks a person to satisfy `flags` and remembers the outcome under `context`.
    ///
    /// - Throws: ``VaultError/presence(_:)`` when no person was shown to be there.
    func authenticate(
        _ flags: AccessControl.Flags, context: UUID, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> PresenceProofs

    /// Forgets what `context` was granted, and takes the prompt away that is shown for it.
    func endContext(_ context: UUID, as client: Client)
}
