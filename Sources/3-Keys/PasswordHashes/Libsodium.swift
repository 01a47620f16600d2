import CSodium

/// libsodium. Before `sodium_init` it runs code for any processor, which takes nearly twice as long for Argon2 and
/// scrypt.
enum Libsodium {
    /// Whether libsodium is initialized. Any thread may call `sodium_init`, and any number of times.
    private static let isReady = sodium_init() >= 0

    /// Initializes libsodium. Call it before any function of libsodium.
    ///
    /// - Throws: ``PasswordHashError/memoryUnavailable`` without a source of random numbers, as in a folder without
    ///   `/dev`.
    static func prepare() throws(PasswordHashError) {
        guard isReady else { throw .memoryUnavailable }
    }
}
