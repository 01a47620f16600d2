import SwiftASN1

/// Object identifiers that SwiftASN1 does not name.
extension ASN1ObjectIdentifier {
    /// subjectKeyIdentifier (RFC 5280, 4.2.1.2).
    static let subjectKeyIdentifier: ASN1ObjectIdentifier = [2, 5, 29, 14]
    /// subjectAltName (RFC 5280, 4.2.1.6).
    static let subjectAlternativeName: ASN1ObjectIdentifier = [2, 5, 29, 17]
    /// description (RFC 4519, 2.5).
    static let description: ASN1ObjectIdentifier = [2, 5, 4, 13]
    /// secp192r1, also called P-192 (RFC 5480, 2.1.1.1).
    static let secp192r1: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 3, 1, 1]
    /// id-Ed25519 (RFC 8410, 3).
    static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]
    /// secp224r1, also called P-224 (RFC 5480, 2.1.1.1).
    static let secp224r1: ASN1ObjectIdentifier = [1, 3, 132, 0, 33]
}
