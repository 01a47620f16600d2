import Foundation
import KeychainServices
import VaultInterface

/// Why a keychain operation failed, and what to do about it.
///
/// ```swift
/// do {
///     token = try keychain.get(String.self, for: "token")
/// } catch KeychainError.Code.interactionNotAllowed {
///     // Locked: try again after the unlock.
/// } catch let error as KeychainError {
///     print(error.message)
/// }
/// ```
///
/// No error holds the value of an item or an attribute that was stored with it. Two errors are equal
/// when their codes are.
public struct KeychainError: CodedError {
    /// The kind of failure.
    public var code: Code
    /// The status with which Apple's functions report it (SecBase.h), such as `errSecItemNotFound`.
    public var status: OSStatus
    /// What happened and what to do, for a person to read.
    public var message: String

    /// An error of the given kind, for values that refuse their bytes and for code under test.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - status: Apple's status code for it.
    ///   - message: What happened and what to do; must not contain a secret.
    public init(_ code: Code, status: OSStatus, message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    /// A kind of failure.
    ///
    /// Later versions may add kinds, so a `switch` needs a `default`. A code is a pattern for errors:
    /// `catch KeychainError.Code.itemNotFound`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        /// A kind of one's own.
        public init(_ name: String) { self.name = name }

        /// The name, such as `itemNotFound`.
        public var description: String { name }

        /// There is no such item. Thrown only where an item is needed; reading a missing one is nil.
        public static let itemNotFound = Code("itemNotFound")
        /// The item is there, and its value is no longer read; see ``KeychainItem/Expiry``.
        public static let itemExpired = Code("itemExpired")
        /// An item with the same identity exists already.
        public static let duplicateItem = Code("duplicateItem")
        /// The program does not hold the access group, or none at all.
        public static let accessDenied = Code("accessDenied")
        /// The vault is locked for the item, or a person would have to be asked and may not be.
        public static let interactionNotAllowed = Code("interactionNotAllowed")
        /// The item's accessibility needs a passcode, and none is set.
        public static let passcodeRequired = Code("passcodeRequired")
        /// The person did not prove who they are.
        public static let authenticationFailed = Code("authenticationFailed")
        /// The person dismissed the prompt.
        public static let userCanceled = Code("userCanceled")
        /// The task was canceled before the operation began; nothing was done.
        public static let taskCanceled = Code("taskCanceled")
        /// The request makes no sense.
        public static let invalidRequest = Code("invalidRequest")
        /// The value or the attributes are larger than an item can be.
        public static let tooLarge = Code("tooLarge")
        /// The access group would hold more than the daemon's entitlements allow this program.
        public static let quotaExceeded = Code("quotaExceeded")
        /// The vault cannot do this here, such as enforcing an access control.
        public static let unsupported = Code("unsupported")
        /// Something stored does not verify: the item or the vault is damaged.
        public static let damaged = Code("damaged")
        /// The vault's files are missing, misplaced or open to others.
        public static let unusableVault = Code("unusableVault")
        /// The vault or its disk cannot be written.
        public static let readOnly = Code("readOnly")
        /// The disk is full.
        public static let diskFull = Code("diskFull")
        /// Reading or writing a file failed.
        public static let inputOutput = Code("inputOutput")
        /// Others kept the vault or the item busy for the whole deadline.
        public static let busy = Code("busy")
        /// The store of the circle did not decide about a change, or the vault has none that does; see
        /// ``Keychain/Keychain/Decider``.
        public static let circleUnavailable = Code("circleUnavailable")
        /// There is no memory, or none that may be locked.
        public static let outOfMemory = Code("outOfMemory")
        /// The stored bytes are not a value of the wanted type.
        public static let undecodableValue = Code("undecodableValue")
        /// The value has no form in bytes.
        public static let unencodableValue = Code("unencodableValue")

        /// Whether `error` is a keychain error of this kind; lets a code stand in a `catch`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? KeychainError)?.code == code
        }
    }
}

extension KeychainError {
    /// The message, the kind and the status code.
    public var description: String { "\(message) (\(code), \(status))" }

    /// The message.
    public var errorDescription: String? { message }

    /// The part of the message that says what to do; nil if it does not say that.
    public var recoverySuggestion: String? { advice }
}
