/// Why a password could not be hashed, or held against a hash.
package enum PasswordHashError: Error, Equatable {
    /// Not the text of a hash that this module knows.
    case unknownFormat
    /// It asks for more memory or time than a hash may.
    case tooExpensive
    /// The machine does not give the memory.
    case memoryUnavailable
    /// The password has more bytes than ``HashedPassword/maximalPasswordSize``.
    case passwordTooLong
    /// A library of the system is missing; what to do about it.
    case libraryMissing(String)
}
