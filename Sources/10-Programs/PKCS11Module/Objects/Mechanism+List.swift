import CPKCS11

extension Mechanism {
    /// CKM_…
    static let rsaPKCS: CK_MECHANISM_TYPE = 0x01
    static let rsaRaw: CK_MECHANISM_TYPE = 0x03
    static let rsaOAEP: CK_MECHANISM_TYPE = 0x09
    static let rsaPSS: CK_MECHANISM_TYPE = 0x0D
    static let mlkemGeneration: CK_MECHANISM_TYPE = 0x0F
    static let mlkem: CK_MECHANISM_TYPE = 0x17
    static let mldsaGeneration: CK_MECHANISM_TYPE = 0x1C
    static let mldsa: CK_MECHANISM_TYPE = 0x1D
    static let secretGeneration: CK_MECHANISM_TYPE = 0x350
    static let ecdsa: CK_MECHANISM_TYPE = 0x1041
    static let ecdh: CK_MECHANISM_TYPE = 0x1050
    static let eddsa: CK_MECHANISM_TYPE = 0x1057
    static let aesGeneration: CK_MECHANISM_TYPE = 0x1080
    static let aesCBC: CK_MECHANISM_TYPE = 0x1082
    static let aesCBCPadded: CK_MECHANISM_TYPE = 0x1085
    static let aesGCM: CK_MECHANISM_TYPE = 0x1087
    static let aesKeyWrap: CK_MECHANISM_TYPE = 0x2109
    static let aesKeyWrapPadded: CK_MECHANISM_TYPE = 0x210B
    static let rsaGeneration: CK_MECHANISM_TYPE = 0x00
    static let ecGeneration: CK_MECHANISM_TYPE = 0x1040
    static let edwardsGeneration: CK_MECHANISM_TYPE = 0x1055

    struct Entry: Sendable {
        let type: CK_MECHANISM_TYPE
        /// Of the keys that it is for; nil for digests.
        let family: KeyFamily?
        let info: CK_MECHANISM_INFO

        init(_ type: CK_MECHANISM_TYPE, _ family: KeyFamily?, _ sizes: ClosedRange<CK_ULONG>, _ flags: CK_FLAGS) {
            (self.type, self.family) = (type, family)
            info = CK_MECHANISM_INFO(minKeySize: sizes.lowerBound, maxKeySize: sizes.upperBound, flags: flags)
        }
    }

    /// What the token can do, in the order in which it is listed.
    static let all: [Entry] = {
        // BoringSSL takes no longer ones.
        let rsa: ClosedRange<CK_ULONG> = 1024...8192
        let curves = Flag.ecPrimeField | Flag.ecNamedCurve | Flag.ecUncompressed
        let signatures = Flag.hardware | Flag.sign | Flag.verify
        let ciphers = Flag.hardware | Flag.encrypt | Flag.decrypt
        let wrapping = Flag.wrap | Flag.unwrap
        let pairs = Flag.hardware | Flag.generateKeyPair
        let edwards = Flag.ecNamedCurve
        // Sizes of AES and HMAC keys are in bytes, those of post-quantum keys are parameter sets.
        var all = [
            Entry(rsaPKCS, .rsa, rsa, signatures | ciphers | wrapping),
            Entry(rsaRaw, .rsa, rsa, signatures | ciphers),
            Entry(rsaOAEP, .rsa, rsa, ciphers | wrapping),
            Entry(rsaPSS, .rsa, rsa, signatures),
            Entry(ecdsa, .ellipticCurve, 256...521, signatures | curves),
            Entry(ecdh, .ellipticCurve, 256...521, Flag.hardware | Flag.derive | curves),
            Entry(eddsa, .edwards, 256...256, signatures | edwards),
            Entry(mldsa, .mldsa, 2...3, signatures),
            Entry(mlkem, .mlkem, 2...3, Flag.hardware | Flag.encapsulate | Flag.decapsulate),
            Entry(aesGCM, .aes, 16...32, ciphers),
            Entry(aesCBC, .aes, 16...32, ciphers),
            Entry(aesCBCPadded, .aes, 16...32, ciphers | wrapping),
            Entry(aesKeyWrap, .aes, 16...32, ciphers | wrapping),
            Entry(aesKeyWrapPadded, .aes, 16...32, ciphers | wrapping),
            Entry(rsaGeneration, .rsa, 2048...4096, pairs),
            Entry(ecGeneration, .ellipticCurve, 256...521, pairs | curves),
            Entry(edwardsGeneration, .edwards, 256...256, pairs | edwards),
            Entry(mldsaGeneration, .mldsa, 2...3, pairs),
            Entry(mlkemGeneration, .mlkem, 2...3, pairs),
            Entry(aesGeneration, .aes, 16...32, Flag.hardware | Flag.generate),
            Entry(secretGeneration, .genericSecret, 1...1024, Flag.hardware | Flag.generate),
        ]
        for hash in hashes {
            all.append(Entry(hash.pkcs1, .rsa, rsa, signatures))
            all.append(Entry(hash.pss, .rsa, rsa, signatures))
            all.append(Entry(hash.ecdsa, .ellipticCurve, 256...521, signatures | curves))
            all.append(Entry(hash.hmac, .genericSecret, 1...1024, signatures))
        }
        for hash in hashes { all.append(Entry(hash.alone, nil, 0...0, Flag.digest)) }
        return all
    }()
}

extension Mechanism.Purpose {
    var flag: CK_FLAGS {
        switch self {
        case .sign: Flag.sign
        case .verify: Flag.verify
        case .encrypt: Flag.encrypt
        case .decrypt: Flag.decrypt
        case .derive: Flag.derive
        case .wrap: Flag.wrap
        case .unwrap: Flag.unwrap
        case .encapsulate: Flag.encapsulate
        case .decapsulate: Flag.decapsulate
        }
    }

    /// The attribute of a key that permits it.
    var attribute: CK_ATTRIBUTE_TYPE {
        switch self {
        case .sign: Attribute.sign
        case .verify: Attribute.verify
        case .encrypt: Attribute.encrypt
        case .decrypt: Attribute.decrypt
        case .derive: Attribute.derive
        case .wrap: Attribute.wrap
        case .unwrap: Attribute.unwrap
        case .encapsulate: Attribute.encapsulate
        case .decapsulate: Attribute.decapsulate
        }
    }

    /// Which half of a pair does it; a secret key does both.
    var takesPublicKey: Bool {
        switch self {
        case .verify, .encrypt, .wrap, .encapsulate: true
        case .sign, .decrypt, .derive, .unwrap, .decapsulate: false
        }
    }
}
