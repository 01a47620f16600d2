/// Apple's name of an algorithm, such as `algid:sign:ECDSA:message-X962:SHA256`.
package struct KeyAlgorithmName: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    /// Takes any name. ``algorithm`` is nil if the name is unknown.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The algorithm with this name; nil if there is none.
    package var algorithm: KeyAlgorithm? { Self.known[rawValue] }

    /// Made when the first key is used.
    private static let known: [String: KeyAlgorithm] = {
        var known: [String: KeyAlgorithm] = [
            "algid:sign:RSA:raw": .signature(.rsaRaw),
            "algid:sign:RSA:digest-PKCS1v15": .signature(.rsaPKCS1(.digest(nil))),
            "algid:sign:ECDSA:RFC4754": .signature(.ecdsa(.rfc4754, .digest(nil))),
            "algid:sign:ECDSA:digest-RFC4754": .signature(.ecdsa(.rfc4754, .digest(nil))),
            "algid:sign:ECDSA:digest-X962": .signature(.ecdsa(.x962, .digest(nil))),
            "algid:sign:EdDSA:message-Curve25519:SHA512": .signature(.ed25519),
            "algid:encrypt:RSA:raw": .encryption(.rsaRaw),
            "algid:encrypt:RSA:PKCS1": .encryption(.rsaPKCS1),
            "algid:keyexchange:ECDH": .keyExchange(KeyExchangeAlgorithm(derivation: nil)),
            "algid:keyexchange:ECDHC": .keyExchange(KeyExchangeAlgorithm(derivation: nil)),
        ]
        for digest in DigestAlgorithm.allCases {
            add(digest, to: &known)
        }
        return known
    }()

    private static func add(_ digest: DigestAlgorithm, to known: inout [String: KeyAlgorithm]) {
        let name = digest.rawValue
        // Apple's name for SHA-224 says 24, but the salt has 28 bytes.
        let salt = digest == .sha224 ? 24 : digest.byteCount
        for (kind, input, isDigest) in [
            ("message", SignatureInput.message(digest), false), ("digest", .digest(digest), true),
        ] {
            known["algid:sign:RSA:\(kind)-PKCS1v15:\(name)"] = .signature(.rsaPKCS1(input))
            known["algid:sign:RSA:\(kind)-PSS:\(name):\(name):\(salt)"] = .signature(
                .rsaPSS(digest, isDigest: isDigest))
            known["algid:sign:ECDSA:\(kind)-RFC4754:\(name)"] = .signature(.ecdsa(.rfc4754, input))
            known["algid:sign:ECDSA:\(kind)-X962:\(name)"] = .signature(.ecdsa(.x962, input))
        }
        known["algid:encrypt:RSA:OAEP:\(name)"] = .encryption(.rsaOAEP(digest))
        known["algid:encrypt:RSA:OAEP:\(name):AESGCM"] = .encryption(.rsaOAEPWithAESGCM(digest))
        for agreement in ["ECDH", "ECDHC"] {
            let derivation = "\(agreement):KDFX963:\(name)"
            known["algid:keyexchange:\(derivation)"] = .keyExchange(KeyExchangeAlgorithm(derivation: digest))
            known["algid:encrypt:ECIES:\(derivation):AESGCM"] = .encryption(.ecies(digest, derivesNonce: false))
            // The newer family does not have SHA-1.
            guard digest != .sha1 else { continue }
            known["algid:encrypt:ECIES:\(derivation):AESGCM-KDFIV"] = .encryption(.ecies(digest, derivesNonce: true))
        }
    }
}
