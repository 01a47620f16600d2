import Foundation
import VaultInterface

/// Why a field could not be sealed, opened or rotated, and what to do about it.
///
/// ```swift
/// do {
///     note = try queue.read { try Note.fetchOne($0, key: id) }
/// } catch SealedFieldsError.Code.locked {
///     // Wait for the unlocking, and try again.
/// }
/// ```
///
/// No error contains any part of a value or a key. Two errors are equal when their codes are.
public struct SealedFieldsError: CodedError {
    /// The kind of failure.
    public var code: Code
    /// The field, as `table.column`, or the keyring that the error is about, where that is known.
    public var subject: String?
    /// What happened and what to do, for a person to read.
    public var message: String

    /// An error of the given kind, for code under test.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - subject: The field or keyring it is about.
    ///   - message: What happened and what to do; must not contain a secret.
    public init(_ code: Code, subject: String? = nil, message: String) {
        self.code = code
        self.subject = subject
        self.message = message
    }

    /// A kind of failure.
    ///
    /// Later versions may add kinds, so a `switch` needs a `default`. A code is a pattern for errors:
    /// `catch SealedFieldsError.Code.locked`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        /// Makes a kind of your own.
        public init(_ name: String) { self.name = name }

        /// The name, such as `locked`.
        public var description: String { name }

        /// The value does not verify in its place: it was changed, or it was sealed for another row, column, table or
        /// database.
        public static let notAuthentic = Code("notAuthentic")
        /// The column holds something other than a sealed value.
        public static let notSealed = Code("notSealed")
        /// This version does not know the value's format version or its algorithm.
        public static let unsupported = Code("unsupported")
        /// The value was sealed with a key that the keyring does not have.
        public static let unknownKey = Code("unknownKey")
        /// The record does not tell its place: a column of the row's key is null or missing, or no sealing is known.
        public static let placeUnknown = Code("placeUnknown")
        /// The vault is locked for the key, or the vault would have to ask a person and may not.
        public static let locked = Code("locked")
        /// The person did not prove who they are, or dismissed the prompt.
        public static let authenticationFailed = Code("authenticationFailed")
        /// The program does not hold the access group.
        public static let accessDenied = Code("accessDenied")
        /// The keychain's item under the keyring's name is not a key, or not the key that the item names.
        public static let damagedKey = Code("damagedKey")
        /// The keychain refused for another reason; the message says which.
        public static let keychain = Code("keychain")
        /// A key is still needed, or the program cannot show that it is unused.
        public static let keyInUse = Code("keyInUse")
        /// The opened value has another type than the program asked for.
        public static let undecodableValue = Code("undecodableValue")
        /// The value has no form in bytes.
        public static let unencodableValue = Code("unencodableValue")
        /// The request makes no sense.
        public static let invalidRequest = Code("invalidRequest")
        /// The system has no memory left.
        public static let outOfMemory = Code("outOfMemory")

        /// Whether `error` is of this kind; lets a code stand in a `catch`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? SealedFieldsError)?.code == code
        }
    }
}

extension SealedFieldsError {
    /// The message, what it is about, and the kind.
    public var description: String {
        subject.map { "\($0): \(message) (\(code))" } ?? "\(message) (\(code))"
    }

    /// The message.
    public var errorDescription: String? { message }

    /// The part of the message that says what to do; nil if it does not say that.
    public var recoverySuggestion: String? { advice }
}

extension SealedFieldsError {
    static func notAuthentic(_ subject: String) -> SealedFieldsError {
        SealedFieldsError(
            .notAuthentic, subject: subject,
            message:
                "the value was changed, or sealed for another row, column, table or database; restore it from a backup"
        )
    }

    static func notSealed(_ subject: String?) -> SealedFieldsError {
        SealedFieldsError(
            .notSealed, subject: subject, message: "the column has something else than a sealed value; seal it first")
    }

    static func unencodable(_ type: Any.Type) -> SealedFieldsError {
        SealedFieldsError(
            .unencodableValue,
            message: "a value of type \(type) could not be encoded; check how the type encodes itself")
    }

    static func undecodable(_ type: Any.Type) -> SealedFieldsError {
        SealedFieldsError(
            .undecodableValue,
            message: "the value that was sealed is not a \(type); open it as the type it was sealed as")
    }
}
