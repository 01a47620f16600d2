import Foundation
import KeychainModel
import KeychainServices
import ProcessVault
import VaultInterface

/// A key's record, and on whose behalf it is used.
struct EnclaveKey: Sendable {
    let record: EnclaveKeyRecord
    private let context: LAContext?

    /// A new key.
    init(
        _ kind: EnclaveKeyKind, _ accessControl: SecAccessControl, _ context: LAContext?
    ) throws(SecureEnclaveError) {
        let session = try Self.session(for: context)
        do {
            record = try session.perform(
                MakeEnclaveKey(kind, accessControl: accessControl.control, options: Self.options(of: context)))
        } catch {
            throw SecureEnclaveError(error)
        }
        self.context = context
    }

    /// A key that was made before.
    init(
        _ kind: EnclaveKeyKind, dataRepresentation: Data, _ context: LAContext?
    ) throws(SecureEnclaveError) {
        guard let record = EnclaveKeyRecord(decoding: dataRepresentation), record.kind == kind else {
            throw .malformedKey
        }
        self.record = record
        self.context = context
    }

    func perform(_ operation: EnclaveKeyOperation) throws(SecureEnclaveError) -> Data {
        let session = try Self.session(for: context)
        do {
            return try session.perform(UseEnclaveKey(record, for: operation, options: Self.options(of: context)))
        } catch {
            throw SecureEnclaveError(error)
        }
    }

    /// What a key is protected by unless the program says otherwise: usable while the vault is unlocked.
    static var plainAccessControl: SecAccessControl {
        SecAccessControl(AccessControl(protection: .whenUnlockedThisDeviceOnly, flags: .privateKeyUsage))
    }

    private static func session(for context: LAContext?) throws(SecureEnclaveError) -> VaultSession {
        let session: VaultSession
        do {
            session = try VaultSession.current()
        } catch {
            throw SecureEnclaveError(error)
        }
        if let context, !context._keychainState.use(in: session) { throw .invalidContext }
        return session
    }

    private static func options(of context: LAContext?) -> AuthenticationOptions {
        guard let context else { return AuthenticationOptions() }
        return AuthenticationOptions(
            interaction: context.interactionNotAllowed ? .fail : .allow,
            prompt: context.localizedReason.isEmpty ? nil : context.localizedReason,
            context: context._keychainState.identifier,
            applicationPassword: context._keychainState.applicationPassword)
    }
}
