import Foundation
import KeyCryptography
import KeychainModel
import VaultInterface

/// A right that the keychain keeps, with a key of the vault's enclave and perhaps a secret. The vault lets the key and
/// the secret be used while the right is authorized.
///
/// ``LARightStore`` makes such rights and finds them again.
// Safe to share between threads: it adds only constants to ``LARight``.
open class LAPersistedRight: LARight, @unchecked Sendable {
    /// The key. Its public half can always be used.
    public let key: LAPrivateKey
    /// The secret that was saved with the right.
    public let secret: LASecret
    let identifier: String
    private let record: EnclaveKeyRecord

    init(_ right: StoredRight) throws(KeyError) {
        let requirement = LAAuthenticationRequirement(
            (right.record.accessControl.flags ?? []).subtracting(.privateKeyUsage))
        let authorization = RightAuthorization()
        key = try LAPrivateKey(right.record, authorization)
        secret = LASecret(right, authorization)
        identifier = right.identifier
        record = right.record
        super.init(requirement, authorization)
    }

    /// The vault says whether the key is still bound to the enrolled fingers. A lock is no obstacle: it ends.
    override func check(with context: LAContext, in session: VaultSession) throws(LAError) {
        if let failure = context.unavailability(of: requirement.policy, in: session) { throw failure }
        do throws(VaultError) {
            try use(AuthenticationOptions(interaction: .fail, context: context._keychainState.identifier), session)
        } catch .interactionNotAllowed {
            return
        } catch {
            throw LAError(error)
        }
    }

    /// Uses the key: then it is the vault that asks, for what the key itself demands, and the right is granted only if
    /// the key can be used.
    override func ask(_ reason: String, with context: LAContext, in session: VaultSession) throws(LAError) {
        do throws(VaultError) {
            try use(AuthenticationOptions(prompt: reason, context: context._keychainState.identifier), session)
        } catch {
            throw LAError(error)
        }
    }

    /// Signs a digest that is no message's, and lets go of the signature.
    private func use(_ options: AuthenticationOptions, _ session: VaultSession) throws(VaultError) {
        try session.perform(UseEnclaveKey(record, for: .sign(digest: Data(count: 32)), options: options))
    }
}
