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
        case .notFromATPM: "what was signed is not a TPM's own statement"
        case .notACertification: "the TPM's statement is not about a key"
        case .wrongSignature: "the signature is not the attestation key's for this statement"
        case .unrestrictedAttester:
            "the attestation key is not one that signs nothing but a TPM's own statements, so that its signature says nothing"
        case .otherAttester: "the statement was signed by another key than the attestation key that is given"
        case .otherKey: "the statement is about another key than the one that is given"
        case .unguardedKey: "the key is not one that a TPM made and keeps for itself"
        case .otherNonce: "the statement was made for another nonce: it is an old one, or somebody else's"
        }
    }
}
