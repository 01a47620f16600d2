import Crypto
import FoundationEssentials
import KeychainModel
import SecureMemory

/// What guards a key of the enclave, derived from the key that opens its protection class and its factors (HKDF-SHA256,
/// RFC 5869).
enum EnclaveKeyDerivation {
    /// What the enclave asks for at each use; bound to all that was decided before the key was made, so that a key
    /// whose access control was changed does not open.
    static func authorization(of record: EnclaveKeyRecord, under key: SymmetricKey) -> SymmetricKey {
        derive(from: key, record, Data("swift-keychain/v1/enclave-key/authorization".utf8) + record.head)
    }

    /// The first 16 bytes of HMAC-SHA256 (RFC 2104) over the record.
    static func tag(of record: EnclaveKeyRecord, under key: SymmetricKey) -> Data {
        let tagKey = derive(from: key, record, Data("swift-keychain/v1/enclave-key/record".utf8))
        return Data(HMAC<SHA256>.authenticationCode(for: record.body, using: tagKey)).prefix(EnclaveKeyRecord.tagSize)
    }

    private static func derive(from key: SymmetricKey, _ record: EnclaveKeyRecord, _ info: Data) -> SymmetricKey {
        defer { wipeRecentlyFreed(.derivation) }
        return HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: record.salt, info: info, outputByteCount: 32)
    }
}
