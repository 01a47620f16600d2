import FoundationEssentials

/// An algorithm of signatures.
package enum SSHSignatureAlgorithm: String, Hashable, Sendable {
    /// ECDSA with the digest that belongs to the curve (RFC 5656, 6.2.1).
    case ecdsaP256 = "ecdsa-sha2-nistp256"
    case ecdsaP384 = "ecdsa-sha2-nistp384"
    case ecdsaP521 = "ecdsa-sha2-nistp521"
    /// RSASSA-PKCS1-v1_5 (RFC 8332).
    case rsaSHA256 = "rsa-sha2-256"
    case rsaSHA512 = "rsa-sha2-512"
    /// RFC 8709, 6.
    case ed25519 = "ssh-ed25519"

    /// The algorithm for a key; signatures with SHA-1 are not made.
    ///
    /// - Parameter flags: Those of the request (draft-miller-ssh-agent, 3.6.1): 2 for SHA-256, 4 for SHA-512.
    init(_ key: SSHPublicKey, flags: UInt32) throws(SSHAgentError) {
        switch key.kind {
        case .ellipticCurve(.p256, _): self = .ecdsaP256
        case .ellipticCurve(.p384, _): self = .ecdsaP384
        case .ellipticCurve(.p521, _): self = .ecdsaP521
        case .ed25519: self = .ed25519
        case .rsa:
            if flags & 4 != 0 {
                self = .rsaSHA512
            } else if flags & 2 != 0 {
                self = .rsaSHA256
            } else {
                throw .unsupported
            }
        }
    }

    /// Returns the signature in the form of the protocol.
    ///
    /// - Parameter raw: For ECDSA `r ‖ s`, both as long as a coordinate (IEEE P1363); for others the signature as it
    ///   is.
    func encoded(_ raw: Data) throws(SSHAgentError) -> Data {
        var writer = SSHWriter()
        writer.append(string: rawValue.utf8)
        switch self {
        case .rsaSHA256, .rsaSHA512, .ed25519:
            writer.append(string: raw)
        case .ecdsaP256, .ecdsaP384, .ecdsaP521:
            guard raw.count % 2 == 0, !raw.isEmpty else { throw .malformed }
            var numbers = SSHWriter()
            numbers.append(integer: Data(raw.prefix(raw.count / 2)))
            numbers.append(integer: Data(raw.suffix(raw.count / 2)))
            writer.append(string: numbers.message)
        }
        return writer.message
    }
}
