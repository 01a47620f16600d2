/// The reason why an attestation proves nothing.
package enum AttestationError: Error, Equatable, CustomStringConvertible {
    /// The bytes are not one whole structure of this kind in this package's encoding.
    case malformed(String)
    /// A TPM did not make the signed statement.
    case notFromATPM
    /// A TPM made the statement, but not about a key.
    case notACertification
    case wrongSignature
    /// The signing key would also sign other bytes that look like a TPM's statement.
    case unrestrictedAttester
    /// The statement names another signing key.
    case otherAttester
    /// The statement is about another key.
    case otherKey
    /// The key was made outside of the TPM, or can leave it, or can be used without its authorization.
    case unguardedKey
    /// The statement answers another nonce.
    case otherNonce

    package var description: String {
        switch self {
        case .malformed(let structure): "the \(structure) is malformed"
        case .notFromATPM: "the signed bytes are not a TPM's own statement"
        case .notACertification: "the TPM's statement is not about a key"
        case .wrongSignature: "the signature is not the attestation key's for this statement"
        case .unrestrictedAttester:
            "the attestation key would also sign bytes that are not a TPM's own statement, so its signature proves "
                + "nothing"
        case .otherAttester: "another key than the given attestation key signed the statement"
        case .otherKey: "the statement is about another key than the given one"
        case .unguardedKey: "a TPM did not make this key, or the key can leave the TPM"
        case .otherNonce: "the statement answers another nonce: it is old, or was made for someone else"
        }
    }
}
