import FoundationEssentials
import VaultInterface

/// Why an operation on an encrypted database failed, and what to do about it.
///
/// ```swift
/// do {
///     database = try ProtectedDatabase(path: path)
/// } catch ProtectedDatabaseError.Code.locked {
///     // Wait for `ProtectedData.events()` to tell of the unlocking.
/// }
/// ```
///
/// What goes wrong inside a transaction, such as a constraint that is not kept, is GRDB's `DatabaseError` as with any
/// database. No error holds anything of a database's contents. Two errors are equal when their codes are.
public struct ProtectedDatabaseError: CodedError {
    /// The kind of failure.
    public var code: Code
    /// The database it is about, where there is one.
    public var path: String?
    /// What happened and what to do, for a person to read.
    public var message: String

    /// An error of the given kind, for code under test.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - path: The database it is about.
    ///   - message: What happened and what to do.
    public init(_ code: Code, path: String? = nil, message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// A kind of failure.
    ///
    /// Later versions may add kinds, so a `switch` needs a `default`. A code is a pattern for errors:
    /// `catch ProtectedDatabaseError.Code.locked`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        /// A kind of one's own.
        public init(_ name: String) { self.name = name }

        /// The name, such as `locked`.
        public var description: String { name }

        /// The class of the database's key is closed.
        public static let locked = Code("locked")
        /// The keychain has no key for the database, or none that this program may see.
        public static let keyNotFound = Code("keyNotFound")
        /// The key is another database's.
        public static let wrongKey = Code("wrongKey")
        /// There is no such file.
        public static let fileNotFound = Code("fileNotFound")
        /// There is a file with the name already.
        public static let fileExists = Code("fileExists")
        /// The database is a plain one.
        public static let notEncrypted = Code("notEncrypted")
        /// The database is encrypted already.
        public static let alreadyEncrypted = Code("alreadyEncrypted")
        /// The file is no database that is known here.
        public static let notDatabase = Code("notDatabase")
        /// What is stored does not verify: bits were changed, or pages come from elsewhere or from another time.
        public static let damaged = Code("damaged")
        /// The file is of a version of the format, or asks for something, that this one cannot do.
        public static let unsupported = Code("unsupported")
        /// Another program, or another part of this one, is using the database.
        public static let busy = Code("busy")
        /// The database was closed by the program.
        public static let closed = Code("closed")
        /// The file's permissions do not let this program use it.
        public static let permissionDenied = Code("permissionDenied")
        /// The vault gives this program no key.
        public static let accessDenied = Code("accessDenied")
        /// Nobody proved to be allowed to use the key: a wrong passcode was given, or none is set.
        public static let authenticationFailed = Code("authenticationFailed")
        /// A person was asked, and did not agree.
        public static let userCanceled = Code("userCanceled")
        /// The disk is full, or the quota used up.
        public static let diskFull = Code("diskFull")
        /// The file system, or the vault, cannot be written.
        public static let readOnly = Code("readOnly")
        /// The request makes no sense.
        public static let invalidRequest = Code("invalidRequest")
        /// The vault cannot be used.
        public static let unusableVault = Code("unusableVault")
        /// The work was canceled.
        public static let taskCanceled = Code("taskCanceled")
        /// There is no memory.
        public static let outOfMemory = Code("outOfMemory")
        /// Reading or writing failed otherwise.
        public static let inputOutput = Code("inputOutput")

        /// Whether `error` is of this kind; lets a code stand in a `catch`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? ProtectedDatabaseError)?.code == code
        }
    }
}

extension ProtectedDatabaseError {
    /// The message.
    public var errorDescription: String? { message }

    /// The part of the message that says what to do; nil if it does not say that.
    public var recoverySuggestion: String? { advice }
}
