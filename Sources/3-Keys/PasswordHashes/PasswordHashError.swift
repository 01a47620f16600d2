/// The reason why a password could not be hashed or compared with a hash.
package enum PasswordHashError: Error, Equatable {
    /// The text is not a hash that this module knows.
    case unknownFormat
    /// The hash needs more memory or time than allowed.
    case tooExpensive
    /// The machine does not have the memory.
    case memoryUnavailable
    /// The password has more bytes than ``HashedPassword/maximalPasswordSize``.
    case passwordTooLong
    /// A library of the system is missing. The text says what to do.
    case libraryMissing(String)
}
