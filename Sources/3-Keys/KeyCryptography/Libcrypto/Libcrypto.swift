import SystemLibraries

/// The functions of OpenSSL 3's libcrypto that this module uses (openssl/evp.h, openssl/x509.h). All but those of
/// ``RSADecoding`` belong to its stable interface.
///
/// Most return 1 for success and 0 or a negative number for failure.
struct Libcrypto: Sendable {
    typealias Bytes = UnsafePointer<UInt8>
    typealias MutableBytes = UnsafeMutablePointer<UInt8>
    typealias Source = UnsafeMutablePointer<Bytes?>
    typealias Sink = UnsafeMutablePointer<MutableBytes?>
    typealias Count = UnsafeMutablePointer<Int>
    typealias Text = UnsafePointer<CChar>
    typealias Start = @convention(c) (OpaquePointer) -> Int32
    typealias Transform = @convention(c) (OpaquePointer, MutableBytes?, Count, Bytes?, Int) -> Int32

    let decodePrivateKey: @convention(c) (Int32, OpaquePointer?, Source, Int) -> OpaquePointer?
    let decodePublicKey: @convention(c) (Int32, OpaquePointer?, Source, Int) -> OpaquePointer?
    let decodePublicKeyInfo: @convention(c) (OpaquePointer?, Source, Int) -> OpaquePointer?
    let encodePrivateKey: @convention(c) (OpaquePointer, Sink?) -> Int32
    let encodePublicKey: @convention(c) (OpaquePointer, Sink?) -> Int32
    let freeKey: @convention(c) (OpaquePointer) -> Void

    let newContext: @convention(c) (OpaquePointer, OpaquePointer?) -> OpaquePointer?
    let newContextForType: @convention(c) (Int32, OpaquePointer?) -> OpaquePointer?
    let freeContext: @convention(c) (OpaquePointer) -> Void
    let setOption: @convention(c) (OpaquePointer, Text, Text) -> Int32

    let startGeneration: Start
    let generate: @convention(c) (OpaquePointer, UnsafeMutablePointer<OpaquePointer?>) -> Int32
    let checkPair: Start
    let startSigning: Start
    let sign: Transform
    let startVerifying: Start
    let verify: @convention(c) (OpaquePointer, Bytes?, Int, Bytes?, Int) -> Int32
    let startEncrypting: Start
    let encrypt: Transform
    let startDecrypting: Start
    let decrypt: Transform
    let startDeriving: Start
    let setPeer: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
    let derive: @convention(c) (OpaquePointer, MutableBytes?, Count) -> Int32

    let digestNamed: @convention(c) (Text) -> OpaquePointer?
    let digest:
        @convention(c) (
            UnsafeRawPointer?, Int, MutableBytes?, UnsafeMutablePointer<UInt32>?, OpaquePointer, OpaquePointer?
        ) -> Int32
    let forgetErrors: @convention(c) () -> Void

    private let rsaDecoding: RSADecoding?

    /// Functions that OpenSSL 3 calls deprecated, and that it can be built without (openssl/rsa.h).
    private struct RSADecoding {
        let decode: @convention(c) (OpaquePointer?, Source, Int) -> OpaquePointer?
        let free: @convention(c) (OpaquePointer) -> Void
        let newKey: @convention(c) () -> OpaquePointer?
        let assign: @convention(c) (OpaquePointer, Int32, OpaquePointer) -> Int32

        init(_ library: SystemLibrary) throws(SystemLibraryError) {
            decode = try library.function("d2i_RSAPrivateKey")
            free = try library.function("RSA_free")
            newKey = try library.function("EVP_PKEY_new")
            assign = try library.function("EVP_PKEY_assign")
        }
    }

    /// Reads a private key in PKCS#1. `d2i_PrivateKey` leaves a copy of it in memory that it frees without wiping it
    /// (OpenSSL 3.0.22).
    func decodeRSAPrivateKey(_ position: Source, _ count: Int) -> OpaquePointer? {
        guard let rsaDecoding else { return decodePrivateKey(Self.rsa, nil, position, count) }
        guard let numbers = rsaDecoding.decode(nil, position, count) else { return nil }
        if let key = rsaDecoding.newKey() {
            // The key takes the numbers over.
            if rsaDecoding.assign(key, Self.rsa, numbers) == 1 { return key }
            freeKey(key)
        }
        rsaDecoding.free(numbers)
        return nil
    }

    /// `EVP_PKEY_RSA` and `EVP_PKEY_EC`, the numbers of their object identifiers (openssl/obj_mac.h).
    static let rsa: Int32 = 6
    static let ellipticCurve: Int32 = 408

    /// Loaded at the first use.
    private static let loaded: Result<Libcrypto, SystemLibraryError> = Result(catching: Libcrypto.init)

    static func shared() throws(KeyError) -> Libcrypto {
        switch loaded {
        case .success(let library): return library
        case .failure(let error): throw .libraryMissing(error)
        }
    }

    private init() throws(SystemLibraryError) {
        let openSSL = try OpenSSL(provides: "this kind of key")
        let library = openSSL.library
        decodePrivateKey = try library.function("d2i_PrivateKey")
        decodePublicKey = try library.function("d2i_PublicKey")
        decodePublicKeyInfo = try library.function("d2i_PUBKEY")
        encodePrivateKey = try library.function("i2d_PrivateKey")
        encodePublicKey = try library.function("i2d_PublicKey")
        freeKey = try library.function("EVP_PKEY_free")
        newContext = try library.function("EVP_PKEY_CTX_new")
        newContextForType = try library.function("EVP_PKEY_CTX_new_id")
        freeContext = try library.function("EVP_PKEY_CTX_free")
        setOption = try library.function("EVP_PKEY_CTX_ctrl_str")
        startGeneration = try library.function("EVP_PKEY_keygen_init")
        generate = try library.function("EVP_PKEY_keygen")
        checkPair = try library.function("EVP_PKEY_pairwise_check")
        startSigning = try library.function("EVP_PKEY_sign_init")
        sign = try library.function("EVP_PKEY_sign")
        startVerifying = try library.function("EVP_PKEY_verify_init")
        verify = try library.function("EVP_PKEY_verify")
        startEncrypting = try library.function("EVP_PKEY_encrypt_init")
        encrypt = try library.function("EVP_PKEY_encrypt")
        startDecrypting = try library.function("EVP_PKEY_decrypt_init")
        decrypt = try library.function("EVP_PKEY_decrypt")
        startDeriving = try library.function("EVP_PKEY_derive_init")
        setPeer = try library.function("EVP_PKEY_derive_set_peer")
        derive = try library.function("EVP_PKEY_derive")
        digestNamed = try library.function("EVP_get_digestbyname")
        digest = try library.function("EVP_Digest")
        forgetErrors = openSSL.clearErrors
        rsaDecoding = try? RSADecoding(library)
    }

    func hash(
        _ message: UnsafeRawBufferPointer, with algorithm: DigestAlgorithm, into output: UnsafeMutableRawBufferPointer
    ) throws(KeyError) {
        guard let function = digestNamed(algorithm.rawValue), output.count >= algorithm.byteCount,
            digest(
                message.baseAddress, message.count, output.bindMemory(to: UInt8.self).baseAddress, nil, function, nil)
                == 1
        else { throw failure("compute a digest") }
    }

    /// Returns an error, and clears this thread's error queue, which nobody reads.
    func failure(_ operation: String) -> KeyError {
        forgetErrors()
        return .failed(operation: operation)
    }
}
