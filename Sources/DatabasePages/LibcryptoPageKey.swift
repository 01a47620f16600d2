import Crypto
import Glibc
import SystemLibraries

/// The functions of OpenSSL 3's libcrypto that seal and open (openssl/evp.h), all of which are part of its stable interface.
/// They return 1 for success.
private struct CipherFunctions: Sendable {
    typealias Context = OpaquePointer
    typealias Bytes = UnsafePointer<UInt8>
    typealias MutableBytes = UnsafeMutablePointer<UInt8>
    typealias Count = UnsafeMutablePointer<Int32>
    typealias Start = @convention(c) (Context, OpaquePointer?, OpaquePointer?, Bytes?, Bytes?) -> Int32
    typealias Update = @convention(c) (Context, MutableBytes?, Count, Bytes?, Int32) -> Int32
    typealias Finish = @convention(c) (Context, MutableBytes?, Count) -> Int32

    let cipher: @convention(c) () -> OpaquePointer?
    let newContext: @convention(c) () -> Context?
    let freeContext: @convention(c) (Context) -> Void
    let startSealing: Start
    let seal: Update
    let finishSealing: Finish
    let startOpening: Start
    let open: Update
    let finishOpening: Finish
    let control: @convention(c) (Context, Int32, Int32, UnsafeMutableRawPointer?) -> Int32
    let forgetErrors: @convention(c) () -> Void

    /// `EVP_CTRL_AEAD_GET_TAG` and `EVP_CTRL_AEAD_SET_TAG` (openssl/evp.h).
    static let getTag: Int32 = 0x10
    static let setTag: Int32 = 0x11

    static let shared = try? CipherFunctions()

    private init() throws(SystemLibraryError) {
        let library = try SystemLibrary("libcrypto.so.3", provides: "fast encrypted databases")
        cipher = try library.function("EVP_aes_256_gcm")
        newContext = try library.function("EVP_CIPHER_CTX_new")
        freeContext = try library.function("EVP_CIPHER_CTX_free")
        startSealing = try library.function("EVP_EncryptInit_ex")
        seal = try library.function("EVP_EncryptUpdate")
        finishSealing = try library.function("EVP_EncryptFinal_ex")
        startOpening = try library.function("EVP_DecryptInit_ex")
        open = try library.function("EVP_DecryptUpdate")
        finishOpening = try library.function("EVP_DecryptFinal_ex")
        control = try library.function("EVP_CIPHER_CTX_ctrl")
        forgetErrors = try library.function("ERR_clear_error")
    }
}

/// By OpenSSL's libcrypto, which needs no memory for a page and half the time of swift-crypto.
final class LibcryptoPageKey: PageKey {
    private let library: CipherFunctions
    /// With the key set; each page sets its nonce. Freeing it wipes it.
    private let context: OpaquePointer

    /// Nil where there is no libcrypto.
    init?(_ key: SymmetricKey) {
        guard let library = CipherFunctions.shared, let context = library.newContext() else { return nil }
        (self.library, self.context) = (library, context)
        let isReady = key.withUnsafeBytes { key in
            library.startSealing(context, library.cipher(), nil, key.bindMemory(to: UInt8.self).baseAddress, nil) == 1
        }
        guard isReady else {
            library.forgetErrors()
            return nil
        }
    }

    deinit { library.freeContext(context) }

    func seal(
        _ text: UnsafeRawBufferPointer, extra: UInt64, binding: PageBinding, nonce: UnsafeRawPointer,
        into sealed: UnsafeMutableRawPointer, gap: Int
    ) throws(PageError) {
        let output = sealed.assumingMemoryBound(to: UInt8.self)
        var count: Int32 = 0
        let isSealed =
            library.startSealing(context, nil, nil, nil, nonce.assumingMemoryBound(to: UInt8.self)) == 1
            && Self.update(library.seal, context, nil, binding)
            && library.seal(
                context, output, &count, text.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(text.count)) == 1
            && Self.update(library.seal, context, output + text.count, extra.bigEndian)
            && library.finishSealing(context, output + text.count + PageKeys.extraSize, &count) == 1
            && library.control(
                context, CipherFunctions.getTag, Int32(PageKeys.tagSize),
                sealed + text.count + PageKeys.extraSize + gap) == 1
        guard isSealed else {
            library.forgetErrors()
            throw .memoryUnavailable
        }
    }

    func open(
        _ sealed: UnsafeRawPointer, binding: PageBinding, nonce: UnsafeRawPointer,
        into text: UnsafeMutableRawBufferPointer, gap: Int
    ) -> UInt64? {
        let input = sealed.assumingMemoryBound(to: UInt8.self)
        let end = text.count + PageKeys.extraSize
        // Only read, although the function is declared for reading and writing.
        let tag = UnsafeMutableRawPointer(mutating: sealed + end + gap)
        var (count, extra) = (Int32(0), UInt64(0))
        let isOpen = withUnsafeMutableBytes(of: &extra) { extra in
            let extra = extra.assumingMemoryBound(to: UInt8.self).baseAddress
            return library.startOpening(context, nil, nil, nil, nonce.assumingMemoryBound(to: UInt8.self)) == 1
                && Self.update(library.open, context, nil, binding)
                && library.open(
                    context, text.assumingMemoryBound(to: UInt8.self).baseAddress, &count, input, Int32(text.count))
                    == 1
                && library.open(context, extra, &count, input + text.count, Int32(PageKeys.extraSize)) == 1
                && library.control(context, CipherFunctions.setTag, Int32(PageKeys.tagSize), tag) == 1
                && library.finishOpening(context, extra, &count) == 1
        }
        guard isOpen else {
            library.forgetErrors()
            return nil
        }
        return UInt64(bigEndian: extra)
    }

    private static func update(
        _ function: CipherFunctions.Update, _ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>?,
        _ value: some BitwiseCopyable
    ) -> Bool {
        withUnsafeBytes(of: value) { value in
            var count: Int32 = 0
            return function(
                context, output, &count, value.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(value.count)) == 1
        }
    }
}
