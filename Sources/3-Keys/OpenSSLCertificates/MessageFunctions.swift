import SystemLibraries

/// libcrypto's functions for messages (CMS, RFC 5652), and for PKCS#12 files with several keys.
struct MessageFunctions: Sendable {
    typealias Object = LibcryptoContext.Object
    typealias Bytes = LibcryptoContext.Bytes
    typealias Stack = UnsafeMutablePointer<Object?>
    typealias Text = UnsafePointer<CChar>
    typealias Method = @convention(c) () -> Object?

    /// Signer, key, further certificates, content, flags.
    let sign: @convention(c) (Object?, Object?, Object?, Object?, UInt32) -> Object?
    let addSigner: @convention(c) (Object?, Object?, Object?, Object?, UInt32) -> Object?
    /// Message, content, detached content, flags.
    let finish: @convention(c) (Object?, Object?, Object?, UInt32) -> Int32
    let encode: @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    /// Message, certificates, anchors, detached content, where the content goes, flags.
    let verify: @convention(c) (Object?, Object?, Object?, Object?, Object?, UInt32) -> Int32
    /// Returns a list of the signers' certificates, which belong to the message.
    let signers: @convention(c) (Object?) -> Object?
    let type: @convention(c) (Object?) -> Object?
    let number: @convention(c) (Object?) -> Int32
    /// Recipients, content, cipher, flags.
    let encrypt: @convention(c) (Object?, Object?, Object?, UInt32) -> Object?
    /// Message, key, certificate, detached content, where the content goes, flags.
    let decrypt: @convention(c) (Object?, Object?, Object?, Object?, Object?, UInt32) -> Int32

    let memory: Method
    let makeWriter: @convention(c) (Object?) -> Object?
    /// `BIO_get_mem_data` is this function with a number (BIO_s_mem(3)).
    let control: @convention(c) (Object?, Int32, Int, UnsafeMutableRawPointer?) -> Int
    let put: @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32
    let aes256: Method
    private let digests: [SignedMessage.Digest: Method]

    let setName: @convention(c) (Object?, Text?, Int32) -> Int32
    let setIdentifier: @convention(c) (Object?, Bytes?, Int32) -> Int32
    let addCertificate: @convention(c) (Stack?, Object?) -> Object?
    /// List of bags, key, usage, iterations, cipher, passphrase, context, properties.
    let addKey: @convention(c) (Stack?, Object?, Int32, Int32, Int32, Text?, Object?, Text?) -> Object?
    let identifyBag: @convention(c) (Object?, Bytes?, Int32) -> Int32
    let nameBag: @convention(c) (Object?, Text?, Int32) -> Int32
    /// List of safes, bags, cipher, iterations, passphrase, context, properties.
    let addSafe: @convention(c) (Stack?, Object?, Int32, Int32, Text?, Object?, Text?) -> Int32
    let makeFile: @convention(c) (Object?, Int32, Object?, Text?) -> Object?
    /// File, passphrase and its length, salt and its length, iterations, digest.
    let authenticate: @convention(c) (Object?, Text?, Int32, Bytes?, Int32, Int32, Object?) -> Int32
    /// Algorithm, cipher, passphrase and its length, salt and its length, iterations, key, context, properties.
    let encryptKey:
        @convention(c) (Int32, Object?, Text?, Int32, Bytes?, Int32, Int32, Object?, Object?, Text?) -> Object?
    let freeEncryptedKey: @convention(c) (Object?) -> Void

    /// The functions, or the reason why they cannot be used: a libcrypto that was built without CMS.
    static let shared = Result { () throws(SystemLibraryError) in
        try MessageFunctions(OpenSSL(provides: "signed and encrypted messages").library)
    }

    private init(_ library: SystemLibrary) throws(SystemLibraryError) {
        sign = try library.function("CMS_sign")
        addSigner = try library.function("CMS_add1_signer")
        finish = try library.function("CMS_final")
        encode = try library.function("i2d_CMS_ContentInfo")
        verify = try library.function("CMS_verify")
        signers = try library.function("CMS_get0_signers")
        type = try library.function("CMS_get0_type")
        number = try library.function("OBJ_obj2nid")
        encrypt = try library.function("CMS_encrypt")
        decrypt = try library.function("CMS_decrypt")
        memory = try library.function("BIO_s_mem")
        makeWriter = try library.function("BIO_new")
        control = try library.function("BIO_ctrl")
        put = try library.function("BIO_write")
        aes256 = try library.function("EVP_aes_256_cbc")
        var digests: [SignedMessage.Digest: Method] = [:]
        for digest in SignedMessage.Digest.allCases {
            digests[digest] = try library.function("EVP_" + digest.rawValue.lowercased())
        }
        self.digests = digests
        setName = try library.function("X509_alias_set1")
        setIdentifier = try library.function("X509_keyid_set1")
        addCertificate = try library.function("PKCS12_add_cert")
        addKey = try library.function("PKCS12_add_key_ex")
        identifyBag = try library.function("PKCS12_add_localkeyid")
        nameBag = try library.function("PKCS12_add_friendlyname_utf8")
        addSafe = try library.function("PKCS12_add_safe_ex")
        makeFile = try library.function("PKCS12_add_safes_ex")
        authenticate = try library.function("PKCS12_set_mac")
        encryptKey = try library.function("PKCS8_encrypt_ex")
        freeEncryptedKey = try library.function("X509_SIG_free")
    }

    func digest(_ digest: SignedMessage.Digest) -> Object? { digests[digest]?() }
}
