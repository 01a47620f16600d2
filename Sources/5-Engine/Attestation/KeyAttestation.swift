import FoundationEssentials

/// A TPM's proof that it made a key and holds it, in the TPM's own structures.
///
/// The statement names the key. The attestation key signs it, and signs only statements of the TPM itself. The
/// endorsement key shows that the attestation key belongs to a TPM, and to which one: the verifier encrypts a secret
/// for both keys, and only the TPM with both can return it (TPM2_MakeCredential, TPM2_ActivateCredential).
package struct KeyAttestation: Sendable, Hashable {
    /// TPM2B_PUBLIC.
    package var key: Data
    /// TPM2B_PUBLIC.
    package var attestationKey: Data
    /// TPM2B_PUBLIC, on P-256.
    package var endorsementKey: Data
    /// TPMS_ATTEST.
    package var statement: Data
    /// TPMT_SIGNATURE.
    package var signature: Data
    /// The maker's certificate for an RSA endorsement key, X.509 in DER; empty if the TPM stores none.
    package var rsaCertificate: Data
    /// The maker's certificate for the endorsement key on P-256.
    package var ellipticCertificate: Data

    package init(
        key: Data, attestationKey: Data, endorsementKey: Data, statement: Data, signature: Data, rsaCertificate: Data,
        ellipticCertificate: Data
    ) {
        self.key = key
        self.attestationKey = attestationKey
        self.endorsementKey = endorsementKey
        self.statement = statement
        self.signature = signature
        self.rsaCertificate = rsaCertificate
        self.ellipticCertificate = ellipticCertificate
    }

    /// The allowed lengths of a nonce in bytes: every TPM takes 32, and random nonces below 8 bytes repeat.
    package static let nonceSizes = 8...32
    /// The length of a nonce in bytes if the caller gives none.
    package static let nonceSize = 32
    /// The largest encoded attestation in bytes. A certificate has about 1,500.
    package static let mostBytes = 1 << 14
    private static let head = Data("SKATTEST".utf8) + [1]

    /// The encoding for the verifier. Documentation/Specify/Formats/Enclave.md specifies the format.
    package var encoded: Data {
        [key, attestationKey, endorsementKey, statement, signature, rsaCertificate, ellipticCertificate]
            .reduce(Self.head) { $0 + $1.counted }
    }

    package init(decoding encoding: Data) throws(AttestationError) {
        var reader = StructureReader(encoding, of: "attestation")
        guard encoding.count <= Self.mostBytes, try reader.bytes(Self.head.count) == Self.head else {
            throw reader.malformed
        }
        let sizes = 0...Self.mostBytes
        key = try reader.buffer(sizes)
        attestationKey = try reader.buffer(sizes)
        endorsementKey = try reader.buffer(sizes)
        statement = try reader.buffer(sizes)
        signature = try reader.buffer(sizes)
        rsaCertificate = try reader.buffer(sizes)
        ellipticCertificate = try reader.buffer(sizes)
        try reader.finish()
    }
}
