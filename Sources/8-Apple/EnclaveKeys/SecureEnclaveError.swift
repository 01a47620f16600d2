import Foundation
import VaultInterface

/// Why a key of the enclave could not be made or used.
public struct SecureEnclaveError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; there may be further ones in later versions.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A name for logs.
        public let rawValue: String

        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes are no key of this kind.
        public static let malformedKey = Code(rawValue: "malformedKey")
        /// The vault is locked, or a person would have to be asked and cannot be.
        public static let interactionNotAllowed = Code(rawValue: "interactionNotAllowed")
        /// A person, or a password, was not the right one.
        public static let authenticationFailed = Code(rawValue: "authenticationFailed")
        /// A person said no.
        public static let userCanceled = Code(rawValue: "userCanceled")
        /// The authentication context was invalidated.
        public static let invalidContext = Code(rawValue: "invalidContext")
        /// Anything else; ``SecureEnclaveError/status`` and the description say more.
        public static let failed = Code(rawValue: "failed")
    }

    /// What kind of failure it is.
    public let code: Code
    /// The status with which Apple's functions report it.
    public let status: OSStatus
    /// What happened and what to do.
    public let description: String

    static let malformedKey = SecureEnclaveError(
        code: .malformedKey, status: errSecParam,
        description: "The data is no key of this kind that a vault has made.")
    static let invalidContext = SecureEnclaveError(
        code: .invalidContext, status: errSecAuthFailed,
        description: "The authentication context was invalidated; use another.")

    private init(code: Code, status: OSStatus, description: String) {
        self.code = code
        self.status = status
        self.description = description
    }

    init(_ error: VaultError) {
        status = error.osStatus
        description = error.description
        code =
            switch status {
            case errSecInteractionNotAllowed: .interactionNotAllowed
            case errSecAuthFailed: .authenticationFailed
            case errSecUserCanceled: .userCanceled
            default: .failed
            }
    }
}

extension SecureEnclaveError: LocalizedError {
    /// What happened and what to do, as ``description``.
    public var errorDescription: String? { description }
}
