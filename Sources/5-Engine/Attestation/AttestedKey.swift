import FoundationEssentials

/// The facts that an attestation proves, provided that its attestation key belongs to a TPM.
package struct AttestedKey: Sendable, Equatable {
    /// The uncompressed public key (SEC 1, section 2.3.3): 65 bytes.
    package let publicKey: Data
    package let attributes: ObjectAttributes
    /// The name of the attestation key.
    package let attester: Data
    package let nonce: Data

    /// Checks an attestation from its bytes alone.
    ///
    /// - Parameters:
    ///   - key: The key, TPM2B_PUBLIC.
    ///   - attestationKey: The key that signed, TPM2B_PUBLIC.
    ///   - statement: TPMS_ATTEST.
    ///   - signature: TPMT_SIGNATURE.
    ///   - nonce: The nonce that the statement must answer; nil to accept any.
    package init(
        key: Data, attestationKey: Data, statement: Data, signature: Data, nonce: Data?
    ) throws(AttestationError) {
        let attester = try PublicArea(decoding: attestationKey, of: "attestation key")
        // Any further attribute would weaken the guarantee.
        guard attester.attributes == .attestationKey, attester.policy.isEmpty, attester.symmetric == nil,
            attester.signatureHash == Identifier.sha256
        else { throw .unrestrictedAttester }
        let signature = try AttestationSignature(decoding: signature)
        guard signature.isValid(for: statement, by: attester) else { throw .wrongSignature }
        let certification = try Certification(decoding: statement)
        guard certification.attester == attester.nameUnderEndorsement else { throw .otherAttester }

        let key = try PublicArea(decoding: key, of: "key")
        guard certification.name == key.name else { throw .otherKey }
        // The name covers the attributes, so the TPM vouches for them, too.
        let uses = key.attributes.subtracting(.ownKey)
        guard key.attributes.isSuperset(of: .ownKey), !uses.isEmpty, uses.isSubset(of: [.sign, .decrypt]),
            key.policy.isEmpty, key.symmetric == nil, key.signatureHash == nil
        else { throw .unguardedKey }
        if let nonce, certification.nonce != nonce { throw .otherNonce }
        (publicKey, attributes) = (key.point, key.attributes)
        (self.attester, self.nonce) = (attester.name, certification.nonce)
    }
}

extension KeyAttestation {
    package func verified(nonce: Data?) throws(AttestationError) -> AttestedKey {
        try AttestedKey(
            key: key, attestationKey: attestationKey, statement: statement, signature: signature, nonce: nonce)
    }
}
