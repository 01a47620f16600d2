import Bytes
import CLibrary
import FoundationEssentials
import SystemLibraries

/// libcrypto's functions for OCSP (RFC 6960) and revocation lists (RFC 5280, 5), and for files with issuers.
struct RevocationFunctions: Sendable {
    typealias Object = LibcryptoContext.Object
    typealias Bytes = LibcryptoContext.Bytes
    typealias Decoder =
        @convention(c) (UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<Bytes?>?, Int) -> Object?
    typealias Encoder = @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    typealias Free = @convention(c) (Object?) -> Void
    typealias Digest = @convention(c) () -> Object?

    /// Sets the library context that a thread uses where a function names none, and returns the one before.
    let useContext: @convention(c) (Object?) -> Object?

    /// Returns the certificate's identifier, with a digest of the name and of the key of the issuer.
    let makeIdentifier: @convention(c) (Object?, Object?, Object?) -> Object?
    let freeIdentifier: Free
    /// The digests of identifiers that responders use.
    let digests: [Digest]

    let makeQuestion: @convention(c) () -> Object?
    let freeQuestion: Free
    /// Takes the identifier over.
    let addIdentifier: @convention(c) (Object?, Object?) -> Object?
    let addNonce: @convention(c) (Object?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32
    let encodeQuestion: Encoder
    /// 1: equal; 2: neither has one; 3: only the answer has; -1: only the question has; 0: different.
    let compareNonces: @convention(c) (Object?, Object?) -> Int32

    let decodeAnswer: Decoder
    let freeAnswer: Free
    let answerStatus: @convention(c) (Object?) -> Int32
    let basicAnswer: @convention(c) (Object?) -> Object?
    let freeBasicAnswer: Free
    /// Answer, further certificates, store of anchors, flags.
    let verify: @convention(c) (Object?, Object?, Object?, CUnsignedLong) -> Int32
    let productionTime: @convention(c) (Object?) -> Object?
    /// Answer, identifier, status, reason, time of revocation, time of this update, time of the next update.
    let findStatus:
        @convention(c) (
            Object?, Object?, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?,
            UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<Object?>?
        ) -> Int32
    let time: @convention(c) (Object?, UnsafeMutablePointer<tm>) -> Int32

    let storeParameters: @convention(c) (Object?) -> Object?
    let makeList: @convention(c) (Object?, UnsafePointer<CChar>?) -> Object?
    let decodeList: Decoder
    let freeList: Free
    let nextUpdate: @convention(c) (Object?) -> Object?
    let extensionIndex: @convention(c) (Object?, Int32, Int32) -> Int32
    let extensionAt: @convention(c) (Object?, Int32) -> Object?
    let extensionValue: @convention(c) (Object?) -> Object?
    let stringBytes: @convention(c) (Object?) -> Bytes?
    let stringCount: @convention(c) (Object?) -> Int32
    /// Does not take the lists over.
    let setLists: @convention(c) (Object?, Object?) -> Void

    let decodeMessage: Decoder
    let freeMessage: Free
    /// Returns a list of certificates that the caller frees.
    let messageCertificates: @convention(c) (Object?) -> Object?
    let makeReader: @convention(c) (UnsafeRawPointer?, Int32) -> Object?
    let freeReader: @convention(c) (Object?) -> Int32
    let readText:
        @convention(c) (Object?, UnsafeMutablePointer<Object?>?, UnsafeRawPointer?, UnsafeRawPointer?) -> Object?

    init(_ library: SystemLibrary) throws(SystemLibraryError) {
        useContext = try library.function("OSSL_LIB_CTX_set0_default")
        makeIdentifier = try library.function("OCSP_cert_to_id")
        freeIdentifier = try library.function("OCSP_CERTID_free")
        var digests: [Digest] = []
        for name in ["EVP_sha1", "EVP_sha256", "EVP_sha384", "EVP_sha512", "EVP_sha224"] {
            digests.append(try library.function(name))
        }
        self.digests = digests
        makeQuestion = try library.function("OCSP_REQUEST_new")
        freeQuestion = try library.function("OCSP_REQUEST_free")
        addIdentifier = try library.function("OCSP_request_add0_id")
        addNonce = try library.function("OCSP_request_add1_nonce")
        encodeQuestion = try library.function("i2d_OCSP_REQUEST")
        compareNonces = try library.function("OCSP_check_nonce")
        decodeAnswer = try library.function("d2i_OCSP_RESPONSE")
        freeAnswer = try library.function("OCSP_RESPONSE_free")
        answerStatus = try library.function("OCSP_response_status")
        basicAnswer = try library.function("OCSP_response_get1_basic")
        freeBasicAnswer = try library.function("OCSP_BASICRESP_free")
        verify = try library.function("OCSP_basic_verify")
        productionTime = try library.function("OCSP_resp_get0_produced_at")
        findStatus = try library.function("OCSP_resp_find_status")
        time = try library.function("ASN1_TIME_to_tm")
        storeParameters = try library.function("X509_STORE_get0_param")
        makeList = try library.function("X509_CRL_new_ex")
        decodeList = try library.function("d2i_X509_CRL")
        freeList = try library.function("X509_CRL_free")
        nextUpdate = try library.function("X509_CRL_get0_nextUpdate")
        extensionIndex = try library.function("X509_CRL_get_ext_by_NID")
        extensionAt = try library.function("X509_CRL_get_ext")
        extensionValue = try library.function("X509_EXTENSION_get_data")
        stringBytes = try library.function("ASN1_STRING_get0_data")
        stringCount = try library.function("ASN1_STRING_length")
        setLists = try library.function("X509_STORE_CTX_set0_crls")
        decodeMessage = try library.function("d2i_CMS_ContentInfo")
        freeMessage = try library.function("CMS_ContentInfo_free")
        messageCertificates = try library.function("CMS_get1_certs")
        makeReader = try library.function("BIO_new_mem_buf")
        freeReader = try library.function("BIO_free")
        readText = try library.function("PEM_read_bio_X509")
    }
}

extension LibcryptoContext {
    /// Runs `body` with this library context where libcrypto's functions take none. It changes nothing for other
    /// threads (OSSL_LIB_CTX_set0_default(3)).
    func asDefault<Result, Failure>(
        _ functions: RevocationFunctions, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = functions.useContext(context)
        defer { _ = functions.useContext(before) }
        return try body()
    }

    /// Decodes a whole value; nil if libcrypto cannot read it or if bytes follow it.
    ///
    /// - Parameter empty: An object to fill, which is freed after a failure; nil for a new one.
    func decoded(
        _ der: Data, _ decode: RevocationFunctions.Decoder, _ free: RevocationFunctions.Free, into empty: Object? = nil
    ) -> Object? {
        var object = empty
        let isWhole = der.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            let start = position
            let result =
                empty == nil
                ? decode(nil, &position, bytes.count)
                // On failure, libcrypto frees the object and sets the variable to nil (d2i_X509(3)).
                : decode(&object, &position, bytes.count)
            if empty == nil { object = result }
            guard result != nil, let start, let position else { return false }
            return position - start == bytes.count
        }
        guard isWhole else {
            free(object)
            return nil
        }
        return object
    }

    /// Returns the moment of an ASN1_TIME; nil without one, or if it cannot be read.
    func date(_ time: Object?, _ functions: RevocationFunctions) -> Date? {
        // Without a time, libcrypto would return the current one.
        guard let time else { return nil }
        var parts = tm()
        guard functions.time(time, &parts) == 1 else { return nil }
        return Date(timeIntervalSince1970: Double(timegm(&parts)))
    }

    /// Makes a store that trusts the issuer of a certificate and nobody else, at a moment.
    func store(trusting issuer: Object, at date: Date, _ functions: RevocationFunctions, flags: CUnsignedLong = 0)
        throws(LibcryptoFailure) -> TrustStore
    {
        let store = try TrustStore(self)
        // The store takes its own reference.
        guard paths.addAnchor(store.object, issuer) == 1 else { throw .memory }
        let parameters = functions.storeParameters(store.object)
        // X509_V_FLAG_PARTIAL_CHAIN: the issuer is an anchor, also if another authority signed it.
        _ = paths.setFlags(parameters, 0x80000 | flags)
        paths.setTime(parameters, Self.seconds(date))
        // 80 bits of security, as for paths.
        paths.setSecurityLevel(parameters, 1)
        return store
    }

    /// The seconds of a moment. Dates of certificates are in the years 0 to 9999 (RFC 5280, 4.1.2.5).
    static func seconds(_ date: Date) -> time_t {
        time_t(clamping: max(-62_167_219_200, min(date.timeIntervalSince1970, 253_402_300_799)))
    }
}
