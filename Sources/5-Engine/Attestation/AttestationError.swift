/// Why an attestation proves nothing.
package enum AttestationError: Error, Equatable, CustomStringConvertible {
    /// The bytes are not one whole structure of that kind, as this package makes them.
    case malformed(String)
    /// What was signed was not made by a TPM.
    case notFromATPM
    /// A TPM made it, about something else than a key.
    case notACertification
    case wrongSignature
    /// The key that signed would sign anything that looks like a TPM's words.
    case unrestrictedAttester
    /// The statement names another key as the one that signed.
    case otherAttester
    /// The statement is about another key.
    case otherKey
    /// The key was made outside of the TPM, or can be taken out, or is used without its authorization.
    case unguardedKey
    /// The statement answers another question than the one that was asked.
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
