import FoundationEssentials

/// What an attestation shows, provided that its attestation key is a TPM's.
package struct AttestedKey: Sendable, Equatable {
    /// Uncompressed (SEC 1, section 2.3.3): 65 bytes.
    package let publicKey: Data
    package let attributes: ObjectAttributes
    /// The attestation key's name.
    package let attester: Data
    package let nonce: Data

    /// Checks an attestation from its bytes alone.
    ///
    /// - Parameters:
    ///   - key: The key, TPM2B_PUBLIC.
    ///   - attestationKey: Who signed, TPM2B_PUBLIC.
    ///   - statement: TPMS_ATTEST.
    ///   - signature: TPMT_SIGNATURE.
    ///   - nonce: What the statement has to answer; nil to take any.
    package init(
        key: Data, attestationKey: Data, statement: Data, signature: Data, nonce: Data?
    ) throws(AttestationError) {
        let attester = try PublicArea(decoding: attestationKey, of: "attestation key")
        // Any further attribute would be a promise less.
        guard attester.attributes == .attestationKey, attester.policy.isEmpty, attester.symmetric == nil,
            attester.signatureHash == Identifier.sha256
        else { throw .unrestrictedAttester }
        let signature = try AttestationSignature(decoding: signature)
        guard signature.isValid(for: statement, by: attester) else { throw .wrongSignature }
        let certification = try Certification(decoding: statement)
        guard certification.attester == attester.nameUnderEndorsement else { throw .otherAttester }

        let key = try PublicArea(decoding: key, of: "key")
        guard certification.name == key.name else { throw .otherKey }
        // The name stands for the attributes as well, so that these are the TPM's words.
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
