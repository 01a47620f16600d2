import CLibrary
import SystemLibraries

/// The functions that check a path from a certificate to an anchor (X509_STORE_CTX_new(3),
/// X509_VERIFY_PARAM_set_flags(3)).
struct PathFunctions: Sendable {
    let makeStore: @convention(c) () -> LibcryptoContext.Object?
    let freeStore: @convention(c) (LibcryptoContext.Object?) -> Void
    let addAnchor: @convention(c) (LibcryptoContext.Object?, LibcryptoContext.Object?) -> Int32
    let addSystemAnchors:
        @convention(c) (LibcryptoContext.Object?, LibcryptoContext.Object?, UnsafePointer<CChar>?) -> Int32
    let makeCheck: @convention(c) (LibcryptoContext.Object?, UnsafePointer<CChar>?) -> LibcryptoContext.Object?
    let freeCheck: @convention(c) (LibcryptoContext.Object?) -> Void
    let begin:
        @convention(c) (
            LibcryptoContext.Object?, LibcryptoContext.Object?, LibcryptoContext.Object?, LibcryptoContext.Object?
        ) -> Int32
    let parameters: @convention(c) (LibcryptoContext.Object?) -> LibcryptoContext.Object?
    let setTime: @convention(c) (LibcryptoContext.Object?, time_t) -> Void
    let setFlags: @convention(c) (LibcryptoContext.Object?, CUnsignedLong) -> Int32
    /// Takes the identifier over.
    let addPolicy: @convention(c) (LibcryptoContext.Object?, LibcryptoContext.Object?) -> Int32
    let makeIdentifier: @convention(c) (UnsafePointer<CChar>?, Int32) -> LibcryptoContext.Object?
    let setHost: @convention(c) (LibcryptoContext.Object?, UnsafePointer<CChar>?, Int) -> Int32
    let setAddress: @convention(c) (LibcryptoContext.Object?, UnsafePointer<CChar>?) -> Int32
    let setHostFlags: @convention(c) (LibcryptoContext.Object?, UInt32) -> Void
    let setSecurityLevel: @convention(c) (LibcryptoContext.Object?, Int32) -> Void
    let setDepth: @convention(c) (LibcryptoContext.Object?, Int32) -> Void
    let verify: @convention(c) (LibcryptoContext.Object?) -> Int32
    let failure: @convention(c) (LibcryptoContext.Object?) -> Int32
    let failureDepth: @convention(c) (LibcryptoContext.Object?) -> Int32
    let chain: @convention(c) (LibcryptoContext.Object?) -> LibcryptoContext.Object?

    init(_ library: SystemLibrary) throws(SystemLibraryError) {
        makeStore = try library.function("X509_STORE_new")
        freeStore = try library.function("X509_STORE_free")
        addAnchor = try library.function("X509_STORE_add_cert")
        addSystemAnchors = try library.function("X509_STORE_set_default_paths_ex")
        makeCheck = try library.function("X509_STORE_CTX_new_ex")
        freeCheck = try library.function("X509_STORE_CTX_free")
        begin = try library.function("X509_STORE_CTX_init")
        parameters = try library.function("X509_STORE_CTX_get0_param")
        setTime = try library.function("X509_VERIFY_PARAM_set_time")
        setFlags = try library.function("X509_VERIFY_PARAM_set_flags")
        addPolicy = try library.function("X509_VERIFY_PARAM_add0_policy")
        makeIdentifier = try library.function("OBJ_txt2obj")
        setHost = try library.function("X509_VERIFY_PARAM_set1_host")
        setAddress = try library.function("X509_VERIFY_PARAM_set1_ip_asc")
        setHostFlags = try library.function("X509_VERIFY_PARAM_set_hostflags")
        setSecurityLevel = try library.function("X509_VERIFY_PARAM_set_auth_level")
        setDepth = try library.function("X509_VERIFY_PARAM_set_depth")
        verify = try library.function("X509_verify_cert")
        failure = try library.function("X509_STORE_CTX_get_error")
        failureDepth = try library.function("X509_STORE_CTX_get_error_depth")
        chain = try library.function("X509_STORE_CTX_get0_chain")
    }
}
