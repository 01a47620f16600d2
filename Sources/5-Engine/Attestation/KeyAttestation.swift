import FoundationEssentials

/// A TPM's proof that it made a key and keeps it, in the TPM's own structures.
///
/// The statement says which key, and is signed by the attestation key, which signs nothing but what the TPM says. That
/// the attestation key itself is a TPM's, and which one's, is shown with the endorsement key: whoever asks encrypts a secret
/// to both, and only the TPM that has both gives it back (TPM2_MakeCredential, TPM2_ActivateCredential).
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
    /// Of the TPM's maker, for an endorsement key with RSA, as X.509 in DER; empty if the TPM keeps none.
    package var rsaCertificate: Data
    /// For the one on P-256.
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

    /// How long a nonce can be: every TPM takes 32 bytes, and fewer than 8 come up again.
    package static let nonceSizes = 8...32
    /// How long a nonce is that nobody gave.
    package static let nonceSize = 32
    /// The most bytes of an encoded attestation: a certificate has about 1,500.
    package static let mostBytes = 1 << 14
    private static let head = Data("SKATTEST".utf8) + [1]

    /// On its way to who asked. The format is specified in Documentation/Formats.md.
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
