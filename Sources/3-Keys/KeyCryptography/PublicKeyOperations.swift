import FoundationEssentials

/// The operations of a public key.
package protocol PublicKeyOperations: Sendable {
    /// Returns whether the key made the signature for this message or digest; false for a malformed signature.
    ///
    /// - Throws: An error if the question has no answer: the input is not a digest, or the key does not support this
    ///   algorithm.
    func isValid(_ signature: Data, of input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Bool

    /// Encrypts for the holder of the private key.
    func encrypt(_ plaintext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data
}
