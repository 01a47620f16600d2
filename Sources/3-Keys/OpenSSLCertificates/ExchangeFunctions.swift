import SystemLibraries

/// The functions that read and write PKCS#12 files (RFC 7292; PKCS12_newpass(3), PKCS12_parse(3),
/// PKCS12_SAFEBAG_get1_cert(3)).
struct ExchangeFunctions: Sendable {
    typealias Object = LibcryptoContext.Object
    typealias Text = UnsafePointer<CChar>

    let make: @convention(c) (Int32, Object?, Text?) -> Object?
    let decode:
        @convention(c) (UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<LibcryptoContext.Bytes?>?, Int) -> Object?
    let encode: @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    let free: @convention(c) (Object?) -> Void
    let hasCode: @convention(c) (Object?) -> Int32
    let checkCode: @convention(c) (Object?, Text?, Int32) -> Int32
    let codeParameters:
        @convention(c) (
            UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<Object?>?,
            UnsafeMutablePointer<Object?>?, Object?
        ) -> Void
    let encodeAlgorithm: @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    let integer: @convention(c) (Object?) -> Int
    /// Returns the file's list of PKCS#7 structures (safes).
    let safes: @convention(c) (Object?) -> Object?
    let freeSafe: @convention(c) (Object?) -> Void
    let encodeSafe: @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    /// Return the list of bags of a safe: of a plain one, and of an encrypted one.
    let plainBags: @convention(c) (Object?) -> Object?
    let encryptedBags: @convention(c) (Object?, Text?, Int32) -> Object?
    let freeBag: @convention(c) (Object?) -> Void
    let bagKind: @convention(c) (Object?) -> Int32
    let bagBags: @convention(c) (Object?) -> Object?
    let bagCertificate: @convention(c) (Object?) -> Object?
    let bagKey: @convention(c) (Object?) -> Object?
    let bagEncryptedKey: @convention(c) (Object?) -> Object?
    let encodeEncryptedKey: @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    let decryptKey: @convention(c) (Object?, Text?, Int32, Object?, Text?) -> Object?
    let encodeKey: @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    let freeKey: @convention(c) (Object?) -> Void

    let makeReader: @convention(c) (UnsafeRawPointer?, Int32) -> Object?
    let freeReader: @convention(c) (Object?) -> Int32
    /// Reads a key in PEM. Without a function that asks, the last text is the passphrase.
    let readText:
        @convention(c) (
            Object?, UnsafeMutablePointer<Object?>?, UnsafeRawPointer?, UnsafeRawPointer?, Object?, Text?
        ) -> Object?
    /// Returns the PKCS#8 form of a key that was read.
    let info: @convention(c) (Object?) -> Object?
    /// Reads a PKCS#8 key for `create`.
    let readKey:
        @convention(c) (
            UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<LibcryptoContext.Bytes?>?, Int, Object?, Text?
        ) ->
            Object?
    let freeReadKey: @convention(c) (Object?) -> Void
    /// Passphrase, name, key, certificate, further certificates, ciphers and iterations, key type, context, properties.
    let create:
        @convention(c) (
            Text?, Text?, Object?, Object?, Object?, Int32, Int32, Int32, Int32, Int32, Object?, Text?
        ) -> Object?

    init(_ library: SystemLibrary) throws(SystemLibraryError) {
        make = try library.function("PKCS12_init_ex")
        decode = try library.function("d2i_PKCS12")
        encode = try library.function("i2d_PKCS12")
        free = try library.function("PKCS12_free")
        hasCode = try library.function("PKCS12_mac_present")
        checkCode = try library.function("PKCS12_verify_mac")
        codeParameters = try library.function("PKCS12_get0_mac")
        encodeAlgorithm = try library.function("i2d_X509_ALGOR")
        integer = try library.function("ASN1_INTEGER_get")
        safes = try library.function("PKCS12_unpack_authsafes")
        freeSafe = try library.function("PKCS7_free")
        encodeSafe = try library.function("i2d_PKCS7")
        plainBags = try library.function("PKCS12_unpack_p7data")
        encryptedBags = try library.function("PKCS12_unpack_p7encdata")
        freeBag = try library.function("PKCS12_SAFEBAG_free")
        bagKind = try library.function("PKCS12_SAFEBAG_get_nid")
        bagBags = try library.function("PKCS12_SAFEBAG_get0_safes")
        bagCertificate = try library.function("PKCS12_SAFEBAG_get1_cert")
        bagKey = try library.function("PKCS12_SAFEBAG_get0_p8inf")
        bagEncryptedKey = try library.function("PKCS12_SAFEBAG_get0_pkcs8")
        encodeEncryptedKey = try library.function("i2d_X509_SIG")
        decryptKey = try library.function("PKCS12_decrypt_skey_ex")
        encodeKey = try library.function("i2d_PKCS8_PRIV_KEY_INFO")
        freeKey = try library.function("PKCS8_PRIV_KEY_INFO_free")
        makeReader = try library.function("BIO_new_mem_buf")
        freeReader = try library.function("BIO_free")
        readText = try library.function("PEM_read_bio_PrivateKey_ex")
        info = try library.function("EVP_PKEY2PKCS8")
        readKey = try library.function("d2i_AutoPrivateKey_ex")
        freeReadKey = try library.function("EVP_PKEY_free")
        create = try library.function("PKCS12_create_ex")
    }
}
