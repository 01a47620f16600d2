import CSodium

/// libsodium, which takes Argon2 and scrypt for any processor, at nearly twice the time, until it was told to look at the one that there is.
enum Libsodium {
    /// Whether it is ready; it may be told so any number of times, from any thread.
    private static let isReady = sodium_init() >= 0

    /// To be called before its functions are.
    ///
    /// - Throws: ``PasswordHashError/memoryUnavailable`` where it has no source of random numbers, as in a folder without `/dev`.
    static func prepare() throws(PasswordHashError) {
        guard isReady else { throw .memoryUnavailable }
    }
}
