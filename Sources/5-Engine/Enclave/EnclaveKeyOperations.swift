import Attestation
import Crypto
import FoundationEssentials
import SecureMemory

/// Keys that an enclave makes and uses for its callers, and small secrets that it seals for them.
///
/// The caller stores an ``EnclaveBlob`` and gives the authorization for each use. Both are useless without the enclave
/// that made the blob.
package protocol EnclaveKeyOperations: Sendable {
    /// Makes a P-256 key. Its private half never leaves the enclave.
    ///
    /// - Parameter authorization: Required for each use; 256 bits.
    func createKey(
        for uses: EnclaveKeyUses, authorization: SymmetricKey
    ) throws(EnclaveError) -> EnclaveBlob

    /// Returns the uncompressed public half (SEC 1, section 2.3.3): 4, x and y; 65 bytes.
    func publicKey(of key: EnclaveBlob) throws(EnclaveError) -> Data

    /// Returns an ECDSA signature: r and s, 32 bytes each.
    ///
    /// - Parameter digest: Of any hash function. A digest longer than the curve's order is truncated (FIPS 186-5,
    ///   section 6.4.1).
    func sign(
        digest: Data, with key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> Data

    /// Returns the x coordinate of the ECDH product with `peer`: 32 bytes.
    ///
    /// - Parameter peer: A public key in the form of ``publicKey(of:)``.
    func sharedSecret(
        with peer: Data, using key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> LockedBytes

    /// Returns the enclave's proof that it made the key and holds it.
    ///
    /// - Parameter nonce: The challenge for the proof, of ``Attestation/KeyAttestation/nonceSizes`` bytes.
    func attest(
        _ key: EnclaveBlob, nonce: Data, authorization: SymmetricKey
    ) throws(EnclaveError) -> KeyAttestation

    /// Seals `secret`, of 1 to ``EnclaveLimits/sealedSize`` bytes, to this enclave and `authorization`.
    func seal(_ secret: LockedBytes, authorization: SymmetricKey) throws(EnclaveError) -> EnclaveBlob

    func unseal(_ blob: EnclaveBlob, authorization: SymmetricKey) throws(EnclaveError) -> LockedBytes
}

/// The allowed uses of a key.
package struct EnclaveKeyUses: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let signing = EnclaveKeyUses(rawValue: 1)
    package static let keyAgreement = EnclaveKeyUses(rawValue: 2)
}

package enum EnclaveLimits {
    /// The largest secret in bytes that every TPM can seal (TPM 2.0 Library, Part 2, MAX_SYM_DATA).
    package static let sealedSize = 128
    /// The largest stored blob in bytes.
    package static let blobSize = 2048
}

extension EnclaveKeyUses {
    /// The stored content code of a key with these uses; nil without a use, or with an unknown one.
    package var content: EnclaveBlob.Content? {
        self == [] ? nil : EnclaveBlob.Content(rawValue: rawValue)
    }
}
