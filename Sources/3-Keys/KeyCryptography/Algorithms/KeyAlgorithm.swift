/// The operations of a key.
package enum KeyOperation: Sendable, CaseIterable {
    case sign, verify, encrypt, decrypt, keyExchange
}

/// An algorithm for one of the operations.
package enum KeyAlgorithm: Hashable, Sendable {
    case signature(SignatureAlgorithm)
    case encryption(EncryptionAlgorithm)
    case keyExchange(KeyExchangeAlgorithm)
}

package enum SignatureAlgorithm: Hashable, Sendable {
    /// ECDSA (FIPS 186-4).
    case ecdsa(SignatureEncoding, SignatureInput)
    /// The RSA operation without padding, on a number as long as the modulus.
    case rsaRaw
    /// RSASSA-PKCS1-v1_5 (RFC 8017, 8.2). For a digest of an unnamed function, the input is padded without a
    /// DigestInfo.
    case rsaPKCS1(SignatureInput)
    /// RSASSA-PSS (RFC 8017, 8.1) with MGF1 of the same function and a salt as long as the digest.
    case rsaPSS(DigestAlgorithm, isDigest: Bool)
    /// Ed25519 (RFC 8032, 5.1), of a message as it is.
    case ed25519
}

/// The encoding of the two numbers of an ECDSA signature.
package enum SignatureEncoding: Hashable, Sendable {
    /// An ASN.1 SEQUENCE in DER (ANSI X9.62; RFC 3279, 2.2.3).
    case x962
    /// Both numbers, one after the other, each as long as the order of the curve (RFC 4754).
    case rfc4754
}

/// The input of a signature.
package enum SignatureInput: Hashable, Sendable {
    /// A message, which this module hashes.
    case message(DigestAlgorithm)
    /// A digest of a named function; nil for a digest of any length.
    case digest(DigestAlgorithm?)
}

package enum EncryptionAlgorithm: Hashable, Sendable {
    /// The RSA operation without padding.
    case rsaRaw
    /// RSAES-PKCS1-v1_5 (RFC 8017, 7.2).
    case rsaPKCS1
    /// RSAES-OAEP (RFC 8017, 7.1) with MGF1 of the same function and an empty label.
    case rsaOAEP(DigestAlgorithm)
    /// RSAES-OAEP of a session key, which encrypts the data with AES-GCM.
    case rsaOAEPWithAESGCM(DigestAlgorithm)
    /// ECIES with ECDH, the KDF of ANSI X9.63 and AES-GCM. Standard and cofactor Diffie-Hellman are the same here,
    /// because the cofactor of these curves is 1.
    case ecies(DigestAlgorithm, derivesNonce: Bool)
}

/// Elliptic-curve Diffie-Hellman (SP 800-56A). Standard and cofactor are the same here.
package struct KeyExchangeAlgorithm: Hashable, Sendable {
    /// The hash function of the KDF of ANSI X9.63; nil for the plain shared secret.
    package var derivation: DigestAlgorithm?

    package init(derivation: DigestAlgorithm?) { self.derivation = derivation }
}
