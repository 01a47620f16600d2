import Certificates

extension KeyAlgorithm {
    /// Returns whether a key of this kind claims to support `operation` with this algorithm.
    ///
    /// As on Apple systems, RSA keys claim two operations that they then refuse: public keys claim to decrypt, and
    /// private keys claim to verify signatures without PSS.
    package func isSupported(
        for operation: KeyOperation, byKeyOf type: KeyData.KeyType, _ keyClass: KeyData.KeyClass, sizeInBits: Int
    ) -> Bool {
        guard fits(modulusOf: sizeInBits) else { return false }
        switch (self, operation, type, keyClass) {
        case (.signature(.ecdsa), .sign, .ellipticCurve, .private): return true
        case (.signature(.ecdsa), .verify, .ellipticCurve, .public): return true
        case (.encryption(.ecies), .encrypt, .ellipticCurve, .public): return true
        case (.encryption(.ecies), .decrypt, .ellipticCurve, .private): return true
        case (.keyExchange, .keyExchange, .ellipticCurve, .private): return true
        case (.signature(.ed25519), .sign, .ed25519, .private): return true
        case (.signature(.ed25519), .verify, .ed25519, .public): return true
        case (.signature(.ed25519), _, _, _): return false
        case (.signature(.ecdsa), _, _, _), (.encryption(.ecies), _, _, _), (.keyExchange, _, _, _): return false
        case (.signature, .sign, .rsa, .private), (.signature, .verify, .rsa, .public): return true
        case (.signature(.rsaPSS), .verify, .rsa, .private): return false
        case (.signature, .verify, .rsa, .private): return true
        case (.encryption, .encrypt, .rsa, .public), (.encryption, .decrypt, .rsa, .private): return true
        case (.encryption(.rsaOAEPWithAESGCM), .decrypt, .rsa, .public): return false
        case (.encryption, .decrypt, .rsa, .public): return true
        default: return false
        }
    }

    /// Returns whether the padding fits into a modulus of this size; true for algorithms without a modulus.
    private func fits(modulusOf bits: Int) -> Bool {
        switch self {
        case .signature(.rsaPSS(let digest, _)):
            // Apple's condition. RFC 8017, 9.1.1, needs one bit more, so that signing with exactly this size fails.
            bits >= 16 * digest.byteCount + 9
        case .encryption(.rsaOAEP(let digest)), .encryption(.rsaOAEPWithAESGCM(let digest)):
            // RFC 8017, 7.1.1.
            (bits + 7) / 8 >= 2 * digest.byteCount + 2
        default:
            true
        }
    }
}
