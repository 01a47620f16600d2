/// OpenSSL's libcrypto, which is loaded here for every module that calls it.
///
/// The prototypes are those of OpenSSL 3.0, whose interface is stable for all of version 3 (openssl.org, "Policy:
/// versioning").
package struct OpenSSL: Sendable {
    package let library: SystemLibrary
    /// Forgets what went wrong: the errors of a thread are kept until somebody asks, and a host program may.
    package let clearErrors: @convention(c) () -> Void

    /// - Parameter provides: What a person goes without when it is missing, for the error.
    package init(provides: String) throws(SystemLibraryError) {
        library = try SystemLibrary("libcrypto.so.3", provides: provides)
        clearErrors = try library.function("ERR_clear_error")
    }
}
