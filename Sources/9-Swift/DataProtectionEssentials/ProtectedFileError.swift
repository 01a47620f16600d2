import FoundationEssentials
import VaultInterface

/// Why an operation on a protected file failed, and what to do about it.
///
/// ```swift
/// do {
///     data = try ProtectedFile(url).data()
/// } catch ProtectedFileError.Code.locked {
///     // Wait for `ProtectedData.events` to tell of the unlocking.
/// }
/// ```
///
/// No error holds anything of a file's contents. Two errors are equal when their codes are.
public struct ProtectedFileError: CodedError {
    /// The kind of failure.
    public var code: Code
    /// The file or folder it is about, where there is one.
    public var path: String?
    /// What happened and what to do, for a person to read.
    public var message: String

    /// An error of the given kind, for code under test.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - path: The file or folder it is about.
    ///   - message: What happened and what to do.
    public init(_ code: Code, path: String? = nil, message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// A kind of failure.
    ///
    /// Later versions may add kinds, so a `switch` needs a `default`. A code is a pattern for errors:
    /// `catch ProtectedFileError.Code.locked`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        /// A kind of one's own.
        public init(_ name: String) { self.name = name }

        /// The name, such as `locked`.
        public var description: String { name }

        /// The file's class is closed, or a handle was closed by locking.
        public static let locked = Code("locked")
        /// There is no such file or folder.
        public static let fileNotFound = Code("fileNotFound")
        /// There is a file with the name already.
        public static let fileExists = Code("fileExists")
        /// It is a folder, a device or a symbolic link; only regular files can be protected.
        public static let notRegularFile = Code("notRegularFile")
        /// The file has other names (hard links), which would go on leading to its former form.
        public static let hardLinked = Code("hardLinked")
        /// The file is protected already.
        public static let alreadyProtected = Code("alreadyProtected")
        /// The file is a plain one.
        public static let notProtected = Code("notProtected")
        /// The handle was opened for something else.
        public static let wrongMode = Code("wrongMode")
        /// The handle or writer was closed by the program.
        public static let closed = Code("closed")
        /// The password is another, or the beginning of the file is damaged.
        public static let wrongPassword = Code("wrongPassword")
        /// What is stored does not verify.
        public static let damaged = Code("damaged")
        /// The file is of a version of the format, or asks for something, that this one cannot do.
        public static let unsupported = Code("unsupported")
        /// The file would become larger than a protected file can be.
        public static let tooLarge = Code("tooLarge")
        /// The file was written to so often that its key is used up; copy it.
        public static let keyExhausted = Code("keyExhausted")
        /// Another program was writing to the file.
        public static let busy = Code("busy")
        /// The file's permissions do not let this program use it.
        public static let permissionDenied = Code("permissionDenied")
        /// The vault gives this program no keys.
        public static let accessDenied = Code("accessDenied")
        /// The disk is full, or the quota used up.
        public static let diskFull = Code("diskFull")
        /// The file system, or the vault, cannot be written.
        public static let readOnly = Code("readOnly")
        /// The request makes no sense.
        public static let invalidRequest = Code("invalidRequest")
        /// The vault cannot be used.
        public static let unusableVault = Code("unusableVault")
        /// The task was canceled.
        public static let taskCanceled = Code("taskCanceled")
        /// There is no memory.
        public static let outOfMemory = Code("outOfMemory")
        /// Reading or writing failed otherwise.
        public static let inputOutput = Code("inputOutput")

        /// Whether `error` is of this kind; lets a code stand in a `catch`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? ProtectedFileError)?.code == code
        }
    }
}

extension ProtectedFileError {
    /// The message.
    public var errorDescription: String? { message }

    /// The part of the message that says what to do; nil if it does not say that.
    public var recoverySuggestion: String? { advice }
}
