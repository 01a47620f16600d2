import Bytes
import Certificates
import FoundationEssentials

/// The private half of an RSA key, in libcrypto.
///
/// swift-crypto has no RSA keys below 1024 bits, no operation without padding, and OAEP and PSS with only some hash
/// functions. Using one library for everything keeps the results consistent.
struct RSAPrivateKey: PrivateKeyOperations {
    /// libcrypto's limit for public operations. Without a limit, a modulus of megabytes would take days.
    private static let greatestSizeInBits = 16384

    private let key: LibcryptoKey
    private let publicKey: KeyData

    init(_ key: KeyData) throws(KeyError) {
        guard key.sizeInBits <= Self.greatestSizeInBits else {
            throw .unsupported(reason: "RSA keys above \(Self.greatestSizeInBits) bits cannot be used.")
        }
        publicKey = key.publicKey
        self.key = try key.withUnsafeBytes { (der) throws(KeyError) in
            try LibcryptoKey(der: der, as: .privateKey(type: Libcrypto.rsa))
        }
    }

    /// - Throws: ``KeyError/invalidInput(reason:)`` if the parts of the key do not belong together.
    func check() throws(KeyError) {
        guard try key.isConsistent() else {
            throw .invalidInput(reason: "The parts of the key do not belong together.")
        }
    }

    /// Returns a new key with the public exponent 65537, as PKCS#1.
    static func randomKey(sizeInBits: Int) throws(KeyError) -> SecretBytes {
        try LibcryptoKey(random: Libcrypto.rsa, [("rsa_keygen_bits", String(sizeInBits))]).privateEncoding()
    }

    func sign(_ input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Data {
        let (input, padding) = try algorithm.rsaInput(input, blockSize: publicKey.blockSize)
        let steps = LibcryptoKey.Transformation(
            name: "sign", start: key.library.startSigning, run: key.library.sign, options: padding.options)
        guard let signature = try key.transform(input, steps, greatestCount: publicKey.blockSize) else {
            throw .tooLong
        }
        return signature
    }

    func decrypt(_ ciphertext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data {
        if case .rsaOAEPWithAESGCM(let digest) = algorithm {
            return try RSAHybrid(digest: digest, recipient: publicKey).decrypt(ciphertext, with: self)
        }
        let padding = try algorithm.rsaPadding
        let size = publicKey.blockSize
        // Without padding, a cryptogram is a number. With padding, it is as long as the modulus (RFC 8017, 7.1.2 and
        // 7.2.2).
        guard padding == .none ? ciphertext.count <= size : ciphertext.count == size else { throw .undecipherable }
        let steps = LibcryptoKey.Transformation(
            name: "decrypt", start: key.library.startDecrypting, run: key.library.decrypt, options: padding.options)
        guard let plaintext = try key.transform(ciphertext.paddedLeft(to: size), steps, greatestCount: size) else {
            throw .undecipherable
        }
        return plaintext
    }

    func exchange(
        with peer: KeyData, by algorithm: KeyExchangeAlgorithm, requestedSize: Int, sharedInfo: Data
    ) throws(KeyError) -> Data {
        throw .unsupported(reason: "RSA keys do not agree on keys.")
    }
}

/// The public half of an RSA key, in libcrypto.
struct RSAPublicKey: PublicKeyOperations {
    private let key: LibcryptoKey
    private let publicKey: KeyData

    init(_ key: KeyData) throws(KeyError) {
        publicKey = key
        self.key = try key.withUnsafeBytes { (der) throws(KeyError) in
            try LibcryptoKey(der: der, as: .rsaPublicKey)
        }
    }

    func isValid(_ signature: Data, of input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Bool {
        let (input, padding) = try algorithm.rsaInput(input, blockSize: publicKey.blockSize)
        guard input.isEmpty else { return try key.isValid(signature, of: input, options: padding.options) }
        return try isValidForNothing(signature)
    }

    /// Returns whether this is the signature of an empty input with PKCS#1 v1.5 padding and without DigestInfo.
    /// libcrypto makes such signatures but does not recognise them.
    private func isValidForNothing(_ signature: Data) throws(KeyError) -> Bool {
        let size = publicKey.blockSize
        guard signature.count == size, size >= 11 else { return false }
        let steps = LibcryptoKey.Transformation(
            name: "verify a signature", start: key.library.startEncrypting, run: key.library.encrypt,
            options: RSAPadding.none.options)
        // RFC 8017, 9.2: EM = 0x00 ‖ 0x01 ‖ PS ‖ 0x00 ‖ T, here with an empty T.
        let block = Data([0, 1]) + Data(repeating: 0xFF, count: size - 3) + [0]
        return try key.transform(signature, steps, greatestCount: size) == block
    }

    func encrypt(_ plaintext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data {
        if case .rsaOAEPWithAESGCM(let digest) = algorithm {
            return try RSAHybrid(digest: digest, recipient: publicKey).encrypt(plaintext, with: self)
        }
        let padding = try algorithm.rsaPadding
        let size = publicKey.blockSize
        guard plaintext.count <= size else { throw .tooLong }
        let input = padding == .none ? plaintext.paddedLeft(to: size) : plaintext
        let steps = LibcryptoKey.Transformation(
            name: "encrypt", start: key.library.startEncrypting, run: key.library.encrypt, options: padding.options)
        guard let ciphertext = try key.transform(input, steps, greatestCount: size) else { throw .tooLong }
        return ciphertext
    }
}
