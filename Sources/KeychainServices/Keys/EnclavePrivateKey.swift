import Certificates
import Foundation
import KeyCryptography
import KeychainModel
import VaultInterface

/// A key that the vault's enclave keeps, behind the same functions as any other.
struct EnclavePrivateKey: CurvePrivateKey {
    let record: EnclaveKeyRecord
    let use: KeyUse

    var curve: EllipticCurve { .p256 }

    func signature(ofDigest digest: Data) throws(KeyError) -> Data {
        try perform(.sign(digest: digest))
    }

    func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes {
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
            use.context?.use(in: session)
            return try session.vault.useEnclaveKey(
                record, for: operation, options: use.authentication, as: session.client)
        } catch VaultError.invalidRequest(let reason) {
            throw .invalidInput(reason: reason)
        } catch {
            throw .refused(error)
        }
    }
}

/// On whose behalf a key is used: what the search that found it, or the call that made it, said.
struct KeyUse: Sendable {
    var authentication = AuthenticationOptions()
    /// Kept with the key: what a person has shown ends with the context.
    var context: _SecAuthenticationState?
}

extension SecKey {
    /// The key in a stored record; nil if it is none.
    convenience init?(enclaveRecord: Data, use: KeyUse) {
        guard let record = EnclaveKeyRecord(decoding: enclaveRecord) else { return nil }
        self.init(record, use: use)
    }

    convenience init?(_ record: EnclaveKeyRecord, use: KeyUse) {
        guard record.kind == .p256,
            let publicKey = try? KeyData(record.publicKey, type: .ellipticCurve, keyClass: .public),
            publicKey.curve == .p256
        else { return nil }
        self.init(
            publicKey: publicKey,
            kept: KeptKey(
                tokenID: kSecAttrTokenIDSecureEnclave as String,
                operations: EnclavePrivateKey(record: record, use: use), storedValue: record.encoded))
    }
}
