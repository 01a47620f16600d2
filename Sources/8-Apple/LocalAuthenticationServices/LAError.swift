import Foundation

/// Why an authentication did not succeed, with the codes of Apple's LAError.h.
///
/// Errors that this module reports are of this type and can be caught as such. An `NSError` of this domain, such as the
/// one that ``LAContext/canEvaluatePolicy(_:error:)`` leaves behind, becomes one with `as? LAError` and in `catch`.
public struct LAError: _BridgedStoredNSError {
    /// The error as an object.
    public let _nsError: NSError

    /// The error that `error` stands for; its domain has to be ``errorDomain``.
    public init(_nsError error: NSError) {
        _nsError = error
    }

    /// The domain of the errors, `com.apple.LocalAuthentication`.
    public static var errorDomain: String { LAErrorDomain }

    /// The same as ``errorDomain``.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// What went wrong.
    public enum Code: Int, _ErrorCodeProtocol, Sendable, Hashable, CaseIterable {
        /// The type of the errors with these codes.
        public typealias _ErrorType = LAError

        /// The finger, face or passcode was not the right one.
        case authenticationFailed = -1
        /// The person chose to cancel.
        case userCancel = -2
        /// The person chose another way to authenticate than the one offered.
        case userFallback = -3
        /// The system took the prompt away.
        case systemCancel = -4
        /// No passcode is set.
        case passcodeNotSet = -5
        /// There is no sensor, or it may not be used.
        case biometryNotAvailable = -6
        /// No finger or face is enrolled.
        case biometryNotEnrolled = -7
        /// Biometry waits for the passcode.
        case biometryLockout = -8
        /// The context was invalidated while a person was asked.
        case appCancel = -9
        /// The context was invalidated before.
        case invalidContext = -10
        /// There is no paired device near.
        case companionNotAvailable = -11
        /// The removable sensor is not paired.
        case biometryNotPaired = -12
        /// The removable sensor is not connected.
        case biometryDisconnected = -13
        /// The dimensions of a view are invalid. Not reported here.
        case invalidDimensions = -14
        /// A person would have to be asked, and that is not allowed or not possible.
        case notInteractive = -1004
        /// There is no right, or no secret of a right, with this identifier. Apple's systems report this number too,
        /// without a name for it.
        case resourceNotFound = -1019

        /// The older name of ``companionNotAvailable``.
        public static var watchNotAvailable: Code { .companionNotAvailable }
        /// The older name of ``biometryNotAvailable``.
        public static var touchIDNotAvailable: Code { .biometryNotAvailable }
        /// The older name of ``biometryNotEnrolled``.
        public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
        /// The older name of ``biometryLockout``.
        public static var touchIDLockout: Code { .biometryLockout }
    }
}

extension LAError {
    /// See ``Code/authenticationFailed``.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// See ``Code/userCancel``.
    public static var userCancel: Code { .userCancel }
    /// See ``Code/userFallback``.
    public static var userFallback: Code { .userFallback }
    /// See ``Code/systemCancel``.
    public static var systemCancel: Code { .systemCancel }
    /// See ``Code/passcodeNotSet``.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// See ``Code/biometryNotAvailable``.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// See ``Code/biometryNotEnrolled``.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// See ``Code/biometryLockout``.
    public static var biometryLockout: Code { .biometryLockout }
    /// See ``Code/appCancel``.
    public static var appCancel: Code { .appCancel }
    /// See ``Code/invalidContext``.
    public static var invalidContext: Code { .invalidContext }
    /// See ``Code/companionNotAvailable``.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// See ``Code/biometryNotPaired``.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// See ``Code/biometryDisconnected``.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// See ``Code/invalidDimensions``.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// See ``Code/notInteractive``.
    public static var notInteractive: Code { .notInteractive }
    /// See ``Code/resourceNotFound``.
    public static var resourceNotFound: Code { .resourceNotFound }
    /// See ``Code/watchNotAvailable``.
    public static var watchNotAvailable: Code { .companionNotAvailable }
    /// See ``Code/touchIDNotAvailable``.
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// See ``Code/touchIDNotEnrolled``.
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// See ``Code/touchIDLockout``.
    public static var touchIDLockout: Code { .biometryLockout }
}

/// Whether `error` is of this code, also where it is an `NSError`.
public func ~= (code: LAError.Code, error: any Error) -> Bool {
    let error = error as NSError
    return error.domain == LAErrorDomain && error.code == code.rawValue
}

/// The domain of the errors that this module reports.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// What `as? LAError` calls for an `NSError`.
extension LAError: _ObjectiveCBridgeable {
    /// The class of the errors as objects.
    public typealias _ObjectiveCType = NSError

    /// Returns the error as an object.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Sets `result` to the error that `source` stands for.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_nsError: source)
    }

    /// Does the same for an error of this domain.
    ///
    /// - Returns: Whether it is one.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == errorDomain else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Returns the error that `source` stands for; ``Code/authenticationFailed`` without one.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        source.map(LAError.init(_nsError:)) ?? LAError(.authenticationFailed)
    }
}
