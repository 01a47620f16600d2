import Foundation
import VaultInterface

/// Why a password could not be hashed, checked or kept, and what to do about it.
///
/// ```swift
/// do {
///     stored = try hasher.hash(password)
/// } catch CredentialsError.Code.passwordTooLong {
///     // Ask for another one.
/// }
/// ```
///
/// No error holds a password, a hash or a token. Two errors are equal when their codes are.
public struct CredentialsError: CodedError {
    /// The kind of failure.
    public var code: Code
    /// What happened and what to do, for a person to read.
    public var message: String

    /// An error of the given kind, for code under test.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened and what to do; must not contain a secret.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// A kind of failure.
    ///
    /// Later versions may add kinds, so a `switch` needs a `default`. A code is a pattern for errors:
    /// `catch CredentialsError.Code.unknownHash`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        /// A kind of one's own.
        public init(_ name: String) { self.name = name }

        /// The name, such as `unknownHash`.
        public var description: String { name }

        /// What is stored as a hash is none that can be checked.
        public static let unknownHash = Code("unknownHash")
        /// The hash asks for more memory or time than a hash may, or the cost that was given does.
        public static let tooExpensive = Code("tooExpensive")
        /// The password is longer than 4,096 bytes.
        public static let passwordTooLong = Code("passwordTooLong")
        /// The hash was made with a pepper that the hasher does not have.
        public static let unknownPepper = Code("unknownPepper")
        /// There is no pepper of the name in the vault.
        public static let noPepper = Code("noPepper")
        /// There is a pepper of the name already.
        public static let duplicatePepper = Code("duplicatePepper")
        /// A key has fewer bits than it must.
        public static let weakKey = Code("weakKey")
        /// Somebody else signed in or out meanwhile; nothing was changed.
        public static let overtaken = Code("overtaken")
        /// The machine does not give the memory that a hash takes.
        public static let outOfMemory = Code("outOfMemory")
        /// A library of the system that the hash needs is not installed.
        public static let unsupported = Code("unsupported")
        /// Too many sign-ins are waiting, or another process of the app keeps signing in or out; what is tried again in
        /// a while may find a place.
        public static let busy = Code("busy")
        /// The task was canceled before the work began.
        public static let taskCanceled = Code("taskCanceled")
        /// The password is not the one of the account.
        public static let wrongPassword = Code("wrongPassword")
        /// Nobody is signed in.
        public static let notSignedIn = Code("notSignedIn")
        /// The name or address of the account is empty or makes no sense.
        public static let invalidAccount = Code("invalidAccount")
        /// The keychain refused; the message says why.
        public static let keychain = Code("keychain")
        /// A file could not be read or written.
        public static let file = Code("file")

        /// Whether an error is of this kind.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? CredentialsError)?.code == code
        }
    }
}

extension CredentialsError {
    /// The message.
    public var errorDescription: String? { message }

    /// The part of the message that says what to do; nil if it does not say that.
    public var recoverySuggestion: String? { advice }
}
