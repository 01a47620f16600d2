import CLibrary
import SystemLibraries

/// OpenSSL's libcrypto, loaded for the first certificate path or PKCS#12 file.
///
/// It has its own library context. So neither the providers and settings of the host program nor a system-wide
/// configuration file change what it accepts.
///
/// The prototypes are those of OpenSSL 3.0, whose interface is stable for all of version 3 (openssl.org, "Policy:
/// versioning").
final class LibcryptoContext: Sendable {
    typealias Object = OpaquePointer
    typealias Bytes = UnsafePointer<UInt8>

    // Safe to share between threads: the context is never changed or freed after `init`, and libcrypto locks its data
    // in a library context (OSSL_LIB_CTX(3), openssl-threads(7)).
    nonisolated(unsafe) let context: Object
    let certificates: CertificateFunctions
    let paths: PathFunctions
    let stacks: StackFunctions
    let exchange: ExchangeFunctions
    /// Missing in a libcrypto that was built without OCSP or CMS.
    let revocation: Result<RevocationFunctions, SystemLibraryError>

    /// The library, or the reason why it cannot be used.
    static let shared: Result<LibcryptoContext, SystemLibraryError> = Result(catching: LibcryptoContext.init)

    private init() throws(SystemLibraryError) {
        let openSSL = try OpenSSL(provides: "certificates and PKCS#12 files")
        let library = openSSL.library
        certificates = try CertificateFunctions(library)
        paths = try PathFunctions(library)
        stacks = try StackFunctions(library)
        exchange = try ExchangeFunctions(library)
        revocation = Result { () throws(SystemLibraryError) in try RevocationFunctions(library) }
        typealias MakeContext = @convention(c) () -> Object?
        typealias LoadProvider = @convention(c) (Object?, UnsafePointer<CChar>?) -> Object?
        let makeContext = try library.function("OSSL_LIB_CTX_new", as: MakeContext.self)
        let load = try library.function("OSSL_PROVIDER_load", as: LoadProvider.self)
        clearErrors = openSSL.clearErrors
        guard let context = makeContext(), load(context, "default") != nil else {
            throw SystemLibraryError(library: library.name, symbol: "default", provides: "certificates")
        }
        // PKCS#12 files of older systems use RC2 and RC4. A separate provider has these ciphers, and not every machine
        // has that provider. Without it such files are an error.
        _ = load(context, "legacy")
        self.context = context
    }

    /// Clears the thread's error queue. Otherwise the host program could read errors of this module from it.
    let clearErrors: @convention(c) () -> Void
}

/// libcrypto's functions for certificates.
struct CertificateFunctions: Sendable {
    let make: @convention(c) (LibcryptoContext.Object?, UnsafePointer<CChar>?) -> LibcryptoContext.Object?
    let decode:
        @convention(c) (
            UnsafeMutablePointer<LibcryptoContext.Object?>?, UnsafeMutablePointer<LibcryptoContext.Bytes?>?, Int
        ) ->
            LibcryptoContext.Object?
    let encode: @convention(c) (LibcryptoContext.Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    let free: @convention(c) (LibcryptoContext.Object?) -> Void

    init(_ library: SystemLibrary) throws(SystemLibraryError) {
        make = try library.function("X509_new_ex")
        decode = try library.function("d2i_X509")
        encode = try library.function("i2d_X509")
        free = try library.function("X509_free")
    }
}

/// libcrypto's functions for lists.
struct StackFunctions: Sendable {
    let make: @convention(c) () -> LibcryptoContext.Object?
    let push: @convention(c) (LibcryptoContext.Object?, UnsafeMutableRawPointer?) -> Int32
    let count: @convention(c) (LibcryptoContext.Object?) -> Int32
    let value: @convention(c) (LibcryptoContext.Object?, Int32) -> UnsafeMutableRawPointer?
    let free: @convention(c) (LibcryptoContext.Object?) -> Void
    /// Frees the list, and its members with the function.
    let freeAll: @convention(c) (LibcryptoContext.Object?, (@convention(c) (LibcryptoContext.Object?) -> Void)?) -> Void

    init(_ library: SystemLibrary) throws(SystemLibraryError) {
        make = try library.function("OPENSSL_sk_new_null")
        push = try library.function("OPENSSL_sk_push")
        count = try library.function("OPENSSL_sk_num")
        value = try library.function("OPENSSL_sk_value")
        free = try library.function("OPENSSL_sk_free")
        freeAll = try library.function("OPENSSL_sk_pop_free")
    }

    /// Returns the members of a list.
    func members(of stack: LibcryptoContext.Object?) -> [LibcryptoContext.Object] {
        (0..<max(0, count(stack))).compactMap { value(stack, $0).map { LibcryptoContext.Object($0) } }
    }
}
