import CPKCS11

/// What a mechanism means: the module hashes, verifies and encrypts, and the daemon does what takes a private key.
struct Mechanism: Sendable {
    enum Purpose: Sendable { case sign, verify, encrypt, decrypt, derive }

    let scheme: kc_scheme
    /// Of the digest that is signed, or of the padding; nil for none.
    let hash: Hash?
    /// Whether the module hashes what is signed. Otherwise it is a digest already, or signed as it is.
    let hashesMessage: Bool

    /// Apple's name of the algorithm, by which the daemon uses a private key.
    func algorithm(for purpose: Purpose) -> String {
        switch (scheme, purpose) {
        case (_, .derive): "algid:keyexchange:ECDH"
        case (KC_RSA_OAEP, _): "algid:encrypt:RSA:OAEP:\(hash?.name ?? "")"
        case (KC_RSA_RAW, .decrypt): "algid:encrypt:RSA:raw"
        case (KC_RSA_RAW, _): "algid:sign:RSA:raw"
        case (KC_RSA_PKCS1, .decrypt): "algid:encrypt:RSA:PKCS1"
        case (KC_RSA_PKCS1, _):
            hash.map { "algid:sign:RSA:digest-PKCS1v15:\($0.name)" } ?? "algid:sign:RSA:digest-PKCS1v15"
        case (KC_RSA_PSS, _): hash.map(Self.pss) ?? ""
        case (KC_EDDSA, _): "algid:sign:EdDSA:message-Curve25519:SHA512"
        default: "algid:sign:ECDSA:digest-RFC4754"
        }
    }

    /// CKM_…
    static let rsaPKCS: CK_MECHANISM_TYPE = 0x01
    static let rsaRaw: CK_MECHANISM_TYPE = 0x03
    static let rsaOAEP: CK_MECHANISM_TYPE = 0x09
    static let rsaPSS: CK_MECHANISM_TYPE = 0x0D
    static let ecdsa: CK_MECHANISM_TYPE = 0x1041
    static let ecdh: CK_MECHANISM_TYPE = 0x1050
    static let eddsa: CK_MECHANISM_TYPE = 0x1057
    static let rsaGeneration: CK_MECHANISM_TYPE = 0x00
    static let ecGeneration: CK_MECHANISM_TYPE = 0x1040
    static let edwardsGeneration: CK_MECHANISM_TYPE = 0x1055

    /// A hash function, with the numbers of the mechanisms that use it.
    struct Hash: Sendable {
        let name: String
        let byteCount: CK_ULONG
        let function: kc_hash
        /// CKM_… of the function, with RSA PKCS #1, with RSA PSS, and with ECDSA.
        let alone, pkcs1, pss, ecdsa: CK_MECHANISM_TYPE
        /// CKG_MGF1_…
        let maskGeneration: CK_ULONG
    }

    static let hashes = [
        Hash(
            name: "SHA1", byteCount: 20, function: KC_SHA1, alone: 0x220, pkcs1: 0x06, pss: 0x0E, ecdsa: 0x1042,
            maskGeneration: 1),
        Hash(
            name: "SHA224", byteCount: 28, function: KC_SHA224, alone: 0x255, pkcs1: 0x46, pss: 0x47, ecdsa: 0x1043,
            maskGeneration: 5),
        Hash(
            name: "SHA256", byteCount: 32, function: KC_SHA256, alone: 0x250, pkcs1: 0x40, pss: 0x43, ecdsa: 0x1044,
            maskGeneration: 2),
        Hash(
            name: "SHA384", byteCount: 48, function: KC_SHA384, alone: 0x260, pkcs1: 0x41, pss: 0x44, ecdsa: 0x1045,
            maskGeneration: 3),
        Hash(
            name: "SHA512", byteCount: 64, function: KC_SHA512, alone: 0x270, pkcs1: 0x42, pss: 0x45, ecdsa: 0x1046,
            maskGeneration: 4),
    ]

    /// What the token can do, in the order in which it is listed.
    static let all: [(type: CK_MECHANISM_TYPE, info: CK_MECHANISM_INFO)] = {
        let rsa = (min: CK_ULONG(1024), max: CK_ULONG(16384))
        let curves = Flag.ecPrimeField | Flag.ecNamedCurve | Flag.ecUncompressed
        let signatures = Flag.hardware | Flag.sign | Flag.verify
        let ciphers = Flag.encrypt | Flag.decrypt
        func info(_ min: CK_ULONG, _ max: CK_ULONG, _ flags: CK_FLAGS) -> CK_MECHANISM_INFO {
            CK_MECHANISM_INFO(minKeySize: min, maxKeySize: max, flags: flags)
        }
        var all: [(CK_MECHANISM_TYPE, CK_MECHANISM_INFO)] = [
            (rsaPKCS, info(rsa.min, rsa.max, signatures | ciphers)),
            (rsaRaw, info(rsa.min, rsa.max, signatures | ciphers)),
            (rsaOAEP, info(rsa.min, rsa.max, Flag.hardware | ciphers)),
            (rsaPSS, info(rsa.min, rsa.max, signatures)),
            (ecdsa, info(256, 521, signatures | curves)),
            (ecdh, info(256, 521, Flag.hardware | Flag.derive | curves)),
            (eddsa, info(256, 256, signatures | Flag.ecNamedCurve)),
            (rsaGeneration, info(2048, 4096, Flag.hardware | Flag.generateKeyPair)),
            (ecGeneration, info(256, 521, Flag.hardware | Flag.generateKeyPair | curves)),
            (edwardsGeneration, info(256, 256, Flag.hardware | Flag.generateKeyPair | Flag.ecNamedCurve)),
        ]
        for hash in hashes {
            all.append((hash.pkcs1, info(rsa.min, rsa.max, signatures)))
            all.append((hash.pss, info(rsa.min, rsa.max, signatures)))
            all.append((hash.ecdsa, info(256, 521, signatures | curves)))
        }
        for hash in hashes { all.append((hash.alone, info(0, 0, Flag.digest))) }
        return all
    }()

    private init(_ scheme: kc_scheme, _ hash: Hash? = nil, hashesMessage: Bool = false) {
        (self.scheme, self.hash, self.hashesMessage) = (scheme, hash, hashesMessage)
    }

    /// Reads a caller's mechanism for a key.
    ///
    /// - Throws: CKR_MECHANISM_INVALID, CKR_MECHANISM_PARAM_INVALID or CKR_KEY_TYPE_INCONSISTENT.
    init(
        _ pointer: UnsafeMutablePointer<CK_MECHANISM>?, for purpose: Purpose, by family: KeyFamily?
    ) throws(TokenError) {
        guard let mechanism = pointer?.pointee else { throw TokenError(.argumentsBad) }
        guard let entry = Self.all.first(where: { $0.type == mechanism.type }), entry.info.flags & purpose.flag != 0
        else { throw TokenError(.mechanismInvalid) }
        guard family == Self.family(of: mechanism.type) else { throw TokenError(.keyTypeInconsistent) }
        let hash = Self.hashes.first { [$0.pkcs1, $0.pss, $0.ecdsa].contains(mechanism.type) }
        switch mechanism.type {
        case Self.rsaPKCS: self.init(KC_RSA_PKCS1)
        case Self.rsaRaw: self.init(KC_RSA_RAW)
        case Self.rsaOAEP: self.init(KC_RSA_OAEP, try Self.oaepHash(mechanism))
        case Self.rsaPSS: self.init(KC_RSA_PSS, try Self.pssHash(mechanism, nil))
        case Self.ecdsa, Self.ecdh: self.init(KC_ECDSA)
        case Self.eddsa:
            // The parameter, if there is one, asks for a context or for a digest first: neither is there.
            guard mechanism.parameterLength == 0 else { throw TokenError(.mechanismParameterInvalid) }
            self.init(KC_EDDSA)
        default:
            guard let hash else { throw TokenError(.mechanismInvalid) }
            if mechanism.type == hash.pkcs1 {
                self.init(KC_RSA_PKCS1, hash, hashesMessage: true)
            } else if mechanism.type == hash.pss {
                self.init(KC_RSA_PSS, try Self.pssHash(mechanism, hash), hashesMessage: true)
            } else {
                self.init(KC_ECDSA, hash, hashesMessage: true)
            }
        }
    }

    private static func pss(_ hash: Hash) -> String {
        // Apple's name for SHA-224 says 24, but the salt has 28 bytes.
        let salt = hash.name == "SHA224" ? 24 : hash.byteCount
        return "algid:sign:RSA:digest-PSS:\(hash.name):\(hash.name):\(salt)"
    }

    private static func family(of type: CK_MECHANISM_TYPE) -> KeyFamily {
        if type == eddsa { return .edwards }
        return type == ecdsa || type == ecdh || hashes.contains { $0.ecdsa == type } ? .ellipticCurve : .rsa
    }

    /// Returns the hash function of PSS parameters: one for message and mask, with a salt of its length, as the keys of
    /// the keychain have it.
    private static func pssHash(_ mechanism: CK_MECHANISM, _ expected: Hash?) throws(TokenError) -> Hash {
        let given: CK_RSA_PKCS_PSS_PARAMS = try parameter(of: mechanism)
        guard let hash = hashes.first(where: { $0.alone == given.hash }), hash.maskGeneration == given.maskGeneration,
            given.saltLength == hash.byteCount, expected == nil || expected?.alone == hash.alone
        else { throw TokenError(.mechanismParameterInvalid) }
        return hash
    }

    private static func oaepHash(_ mechanism: CK_MECHANISM) throws(TokenError) -> Hash {
        let given: CK_RSA_PKCS_OAEP_PARAMS = try parameter(of: mechanism)
        guard let hash = hashes.first(where: { $0.alone == given.hash }), hash.maskGeneration == given.maskGeneration,
            // A label is not supported.
            given.sourceDataLength == 0
        else { throw TokenError(.mechanismParameterInvalid) }
        return hash
    }

    static func parameter<Parameter: BitwiseCopyable>(of mechanism: CK_MECHANISM) throws(TokenError) -> Parameter {
        guard let pointer = mechanism.parameter,
            mechanism.parameterLength == CK_ULONG(MemoryLayout<Parameter>.size)
        else { throw TokenError(.mechanismParameterInvalid) }
        return UnsafeRawPointer(pointer).loadUnaligned(as: Parameter.self)
    }
}

extension Mechanism.Purpose {
    fileprivate var flag: CK_FLAGS {
        switch self {
        case .sign: Flag.sign
        case .verify: Flag.verify
        case .encrypt: Flag.encrypt
        case .decrypt: Flag.decrypt
        case .derive: Flag.derive
        }
    }
}
