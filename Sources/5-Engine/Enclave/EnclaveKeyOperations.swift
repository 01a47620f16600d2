import Attestation
import Crypto
import FoundationEssentials
import SecureMemory

/// Keys that an enclave makes and uses for others, and small secrets that it seals for them.
///
/// The caller stores what it gets, an ``EnclaveBlob``, and shows the authorization each time. Neither helps
/// without the enclave that made the blob.
package protocol EnclaveKeyOperations: Sendable {
    /// Makes a P-256 key whose private half never leaves the enclave.
    ///
    /// - Parameter authorization: Has to be given for each use; 256 bits.
    func createKey(
        for uses: EnclaveKeyUses, authorization: SymmetricKey
    ) throws(EnclaveError) -> EnclaveBlob

    /// The public half, uncompressed (SEC 1, section 2.3.3): 4, x and y; 65 bytes.
    func publicKey(of key: EnclaveBlob) throws(EnclaveError) -> Data

    /// An ECDSA signature: r and s, 32 bytes each.
    ///
    /// - Parameter digest: Of any hash function; what is longer than the curve's order is cut off (FIPS 186-5, section 6.4.1).
    func sign(
        digest: Data, with key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> Data

    /// The x coordinate of the ECDH product with `peer`: 32 bytes.
    ///
    /// - Parameter peer: A public key in the form that ``publicKey(of:)`` has.
    func sharedSecret(
        with peer: Data, using key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> LockedBytes

    /// The enclave's proof that it made the key and keeps it.
    ///
    /// - Parameter nonce: What the proof is to answer, of ``Attestation/KeyAttestation/nonceSizes`` bytes.
    func attest(
        _ key: EnclaveBlob, nonce: Data, authorization: SymmetricKey
    ) throws(EnclaveError) -> KeyAttestation

    /// Seals `secret`, of 1 to ``EnclaveLimits/sealedSize`` bytes, to this enclave and `authorization`.
    func seal(_ secret: LockedBytes, authorization: SymmetricKey) throws(EnclaveError) -> EnclaveBlob

    func unseal(_ blob: EnclaveBlob, authorization: SymmetricKey) throws(EnclaveError) -> LockedBytes
}

/// What a key may be used for.
package struct EnclaveKeyUses: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let signing = EnclaveKeyUses(rawValue: 1)
    package static let keyAgreement = EnclaveKeyUses(rawValue: 2)
}

package enum EnclaveLimits {
    /// The most bytes that every TPM seals (TPM 2.0 Library, Part 2, MAX_SYM_DATA).
    package static let sealedSize = 128
    /// The most bytes of a stored blob.
    package static let blobSize = 2048
}

extension EnclaveKeyUses {
    /// What a key with these uses is stored as; nil if it has none or unknown ones.
    package var content: EnclaveBlob.Content? {
        self == [] ? nil : EnclaveBlob.Content(rawValue: rawValue)
    }
}
