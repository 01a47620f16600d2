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

    /// - Parameter willUse: Called with the vault before each use.
    package init(
        record: EnclaveKeyRecord, authentication: AuthenticationOptions,
        willUse: (@Sendable (VaultSession) -> Void)? = nil
    ) {
        self.record = record
        self.authentication = authentication
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
