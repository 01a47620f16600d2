import Bytes
import Certificates
import FoundationEssentials
import KeychainModel
import ProcessVault
import VaultInterface

/// A key in the vault's enclave, with the operations of any private key.
package struct EnclavePrivateKey: CurvePrivateKey {
    package let record: EnclaveKeyRecord
    /// How a person may be asked when the key is used.
    package let authentication: AuthenticationOptions
    private let willUse: (@Sendable (VaultSession) -> Void)?
    private let performing: Performer?

    /// Performs an operation of a key in the vault's own process.
    package typealias Performer = @Sendable (EnclaveKeyRecord, EnclaveKeyOperation) throws(VaultError) -> Data

    /// - Parameters:
    ///   - performing: Performs the operations; nil for the current vault.
    ///   - willUse: Called with the current vault before each use.
    package init(
        record: EnclaveKeyRecord, authentication: AuthenticationOptions, performing: Performer? = nil,
        willUse: (@Sendable (VaultSession) -> Void)? = nil
    ) {
        self.record = record
        self.authentication = authentication
        self.performing = performing
        self.willUse = willUse
    }

    package var curve: EllipticCurve { .p256 }

    /// The public half; nil unless the record is of a P-256 key.
    package var publicKey: KeyData? {
        guard record.kind == .p256,
            let key = try? KeyData(record.publicKey, type: .ellipticCurve, keyClass: .public), key.curve == .p256
        else { return nil }
        return key
    }

    package func signature(ofDigest digest: Data) throws(KeyError) -> Data {
        try perform(.sign(digest: digest))
    }

    package func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes {
        let secret = try perform(.agree(with: point))
        do {
            return try secret.withUnsafeBytes { try SecretBytes(copying: $0) }
        } catch {
            throw .memoryUnavailable
        }
    }

    private func perform(_ operation: EnclaveKeyOperation) throws(KeyError) -> Data {
        do {
            if let performing { return try performing(record, operation) }
            let session = try VaultSession.current()
            willUse?(session)
            return try session.perform(UseEnclaveKey(record, for: operation, options: authentication))
        } catch VaultError.invalidRequest(let reason) {
            throw .invalidInput(reason: reason)
        } catch {
            throw .refused(error)
        }
    }
}
