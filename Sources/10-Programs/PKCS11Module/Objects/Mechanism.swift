import CAEAD
import CPKCS11

/// What a mechanism means: the module hashes, verifies and encrypts with public keys, and the vault does what takes a
/// private or secret key of its own.
struct Mechanism: Sendable {
    enum Purpose: Sendable { case sign, verify, encrypt, decrypt, derive, wrap, unwrap, encapsulate, decapsulate }

    var scheme: kc_scheme
    /// Of the digest that is signed, of the padding, or of HMAC; nil for none.
    let hash: Hash?
    /// Whether the module hashes what is signed. Otherwise it is a digest already, or signed as it is.
    let hashesMessage: Bool
    /// The nonce of GCM, the vector of CBC, or the context of ML-DSA.
    var context: [UInt8] = []
    /// What GCM authenticates besides.
    var binding: [UInt8] = []
    /// The length of GCM's tag in bytes.
    var tagSize = 0

    /// The name by which the vault uses a key: Apple's, or the protocol's own (Documentation/Specify/Protocol.md).
    func algorithm(for purpose: Purpose) -> String {
        switch (scheme, purpose) {
        case (KC_ECDSA, _): "algid:sign:ECDSA:digest-RFC4754"
        case (KC_ECDH, _): "algid:keyexchange:ECDH"
        case (KC_RSA_OAEP, _): "algid:encrypt:RSA:OAEP:\(hash?.name ?? "")"
        case (KC_RSA_RAW, .decrypt): "algid:encrypt:RSA:raw"
        case (KC_RSA_RAW, _): "algid:sign:RSA:raw"
        case (KC_RSA_PKCS1, .decrypt), (KC_RSA_PKCS1, .unwrap): "algid:encrypt:RSA:PKCS1"
        case (KC_RSA_PKCS1, _):
            hash.map { "algid:sign:RSA:digest-PKCS1v15:\($0.name)" } ?? "algid:sign:RSA:digest-PKCS1v15"
        case (KC_RSA_PSS, _): hash.map(Self.pss) ?? ""
        case (KC_EDDSA, _): "algid:sign:EdDSA:message-Curve25519:SHA512"
        case (KC_ML_DSA, _), (KC_ML_KEM, _): "ML"
        case (KC_AES_GCM, _): "AES:GCM:\(8 * tagSize)"
        case (KC_AES_CBC, _): "AES:CBC"
        case (KC_AES_CBC_PADDED, _): "AES:CBC:PKCS7"
        case (KC_AES_WRAP, _): "AES:KW"
        case (KC_AES_WRAP_PADDED, _): "AES:KWP"
        case (KC_HMAC, _): "HMAC:\(hash?.name ?? "")"
        default: ""
        }
    }

    /// The cipher of CAEAD; nil for HMAC and for mechanisms of other keys.
    var secretCipher: secret_cipher? {
        switch scheme {
        case KC_AES_GCM: SECRET_AES_GCM
        case KC_AES_CBC: SECRET_AES_CBC
        case KC_AES_CBC_PADDED: SECRET_AES_CBC_PADDED
        case KC_AES_WRAP: SECRET_AES_WRAP
        case KC_AES_WRAP_PADDED: SECRET_AES_WRAP_PADDED
        default: nil
        }
    }

    /// Whether parts of a message are encrypted as they come.
    var isChained: Bool { scheme == KC_AES_CBC || scheme == KC_AES_CBC_PADDED }

    /// A hash function, with the numbers of the mechanisms that use it.
    struct Hash: Sendable {
        let name: String
        let byteCount: CK_ULONG
        let function: kc_hash
        let secretFunction: secret_hash
        /// CKM_… of the function, with RSA PKCS #1, with RSA PSS, with ECDSA, and of its HMAC.
        let alone, pkcs1, pss, ecdsa, hmac: CK_MECHANISM_TYPE
        /// CKG_MGF1_…
        let maskGeneration: CK_ULONG
    }

    static let hashes = [
        Hash(
            name: "SHA1", byteCount: 20, function: KC_SHA1, secretFunction: SECRET_SHA1, alone: 0x220, pkcs1: 0x06,
            pss: 0x0E, ecdsa: 0x1042, hmac: 0x221, maskGeneration: 1),
        Hash(
            name: "SHA224", byteCount: 28, function: KC_SHA224, secretFunction: SECRET_SHA224, alone: 0x255,
            pkcs1: 0x46,
            pss: 0x47, ecdsa: 0x1043, hmac: 0x256, maskGeneration: 5),
        Hash(
            name: "SHA256", byteCount: 32, function: KC_SHA256, secretFunction: SECRET_SHA256, alone: 0x250,
            pkcs1: 0x40,
            pss: 0x43, ecdsa: 0x1044, hmac: 0x251, maskGeneration: 2),
        Hash(
            name: "SHA384", byteCount: 48, function: KC_SHA384, secretFunction: SECRET_SHA384, alone: 0x260,
            pkcs1: 0x41,
            pss: 0x44, ecdsa: 0x1045, hmac: 0x261, maskGeneration: 3),
        Hash(
            name: "SHA512", byteCount: 64, function: KC_SHA512, secretFunction: SECRET_SHA512, alone: 0x270,
            pkcs1: 0x42,
            pss: 0x45, ecdsa: 0x1046, hmac: 0x271, maskGeneration: 4),
    ]

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
        guard family == entry.family else { throw TokenError(.keyTypeInconsistent) }
        switch mechanism.type {
        case Self.rsaPKCS: self.init(KC_RSA_PKCS1)
        case Self.rsaRaw: self.init(KC_RSA_RAW)
        case Self.rsaOAEP: self.init(KC_RSA_OAEP, try Self.oaepHash(mechanism))
        case Self.rsaPSS: self.init(KC_RSA_PSS, try Self.pssHash(mechanism, nil))
        case Self.ecdsa: self.init(KC_ECDSA)
        case Self.ecdh: self.init(KC_ECDH)
        case Self.eddsa:
            // A parameter would ask for Ed25519ctx or Ed25519ph (RFC 8032), which the keychain does not have.
            try Self.requireNone(mechanism)
            self.init(KC_EDDSA)
        case Self.mldsa:
            self.init(KC_ML_DSA)
            context = try Self.signatureContext(mechanism)
        case Self.mlkem:
            try Self.requireNone(mechanism)
            self.init(KC_ML_KEM)
        case Self.aesGCM:
            self.init(KC_AES_GCM)
            try readGCM(mechanism)
        case Self.aesCBC, Self.aesCBCPadded:
            self.init(mechanism.type == Self.aesCBC ? KC_AES_CBC : KC_AES_CBC_PADDED)
            guard mechanism.parameterLength == 16, let vector = mechanism.parameter else {
                throw TokenError(.mechanismParameterInvalid)
            }
            context = Array(UnsafeRawBufferPointer(start: vector, count: 16))
        case Self.aesKeyWrap, Self.aesKeyWrapPadded:
            // The parameter, if there is one, is another initial value than that of the RFC.
            try Self.requireNone(mechanism)
            self.init(mechanism.type == Self.aesKeyWrap ? KC_AES_WRAP : KC_AES_WRAP_PADDED)
        default:
            let hash = Self.hashes.first { [$0.pkcs1, $0.pss, $0.ecdsa, $0.hmac].contains(mechanism.type) }
            guard let hash else { throw TokenError(.mechanismInvalid) }
            switch mechanism.type {
            case hash.pkcs1: self.init(KC_RSA_PKCS1, hash, hashesMessage: true)
            case hash.pss: self.init(KC_RSA_PSS, try Self.pssHash(mechanism, hash), hashesMessage: true)
            case hash.hmac:
                try Self.requireNone(mechanism)
                self.init(KC_HMAC, hash)
            default: self.init(KC_ECDSA, hash, hashesMessage: true)
            }
        }
    }
}

extension Mechanism {
    private static func requireNone(_ mechanism: CK_MECHANISM) throws(TokenError) {
        guard mechanism.parameterLength == 0 else { throw TokenError(.mechanismParameterInvalid) }
    }

    private static func bytes(_ pointer: Bytes?, _ count: CK_ULONG) throws(TokenError) -> [UInt8] {
        // More than any program gives.
        guard count <= 1 << 20 else { throw TokenError(.mechanismParameterInvalid) }
        return Array(try input(pointer, count))
    }

    private mutating func readGCM(_ mechanism: CK_MECHANISM) throws(TokenError) {
        let tagBits: CK_ULONG
        if mechanism.parameterLength == CK_ULONG(MemoryLayout<CK_SHORT_GCM_PARAMS>.size) {
            let given: CK_SHORT_GCM_PARAMS = try Self.parameter(of: mechanism)
            context = try Self.bytes(given.iv, given.ivLength)
            binding = try Self.bytes(given.associated, given.associatedLength)
            tagBits = given.tagBits
        } else {
            let given: CK_GCM_PARAMS = try Self.parameter(of: mechanism)
            context = try Self.bytes(given.iv, given.ivLength)
            binding = try Self.bytes(given.associated, given.associatedLength)
            tagBits = given.tagBits
        }
        guard !context.isEmpty, tagBits % 8 == 0, (32...128).contains(tagBits) else {
            throw TokenError(.mechanismParameterInvalid)
        }
        tagSize = Int(clamping: tagBits / 8)
    }

    private static func signatureContext(_ mechanism: CK_MECHANISM) throws(TokenError) -> [UInt8] {
        guard mechanism.parameterLength > 0 else { return [] }
        let given: CK_SIGN_ADDITIONAL_CONTEXT = try parameter(of: mechanism)
        // FIPS 204 has contexts of at most 255 bytes. Signatures are hedged: CKH_DETERMINISTIC_REQUIRED is 2.
        guard given.hedge < 2, given.contextLength <= 255 else { throw TokenError(.mechanismParameterInvalid) }
        return try bytes(given.context, given.contextLength)
    }

    private static func pss(_ hash: Hash) -> String {
        // Apple's name for SHA-224 says 24, but the salt has 28 bytes.
        let salt = hash.name == "SHA224" ? 24 : hash.byteCount
        return "algid:sign:RSA:digest-PSS:\(hash.name):\(hash.name):\(salt)"
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
