import Dispatch
import KeychainServices

extension AppleName {
    /// Names of SecTrust.h.
    static let secTrust: [AppleName] = [
        .class("SecTrust", SecTrust.self),
        .enumeration("SecTrustResultType", SecTrustResultType.self, UInt32.self),
        .alias("SecTrustCallback", SecTrustCallback.self, ((SecTrust, SecTrustResultType) -> Void).self),
        .alias("SecTrustWithErrorCallback", SecTrustWithErrorCallback.self, ((SecTrust, Bool, CFError?) -> Void).self),
        .member("SecTrustResultType.invalid", SecTrustResultType.invalid, SecTrustResultType.self, 0),
        .member("SecTrustResultType.proceed", SecTrustResultType.proceed, SecTrustResultType.self, 1),
        .member("SecTrustResultType.confirm", SecTrustResultType.confirm, SecTrustResultType.self, 2),
        .member("SecTrustResultType.deny", SecTrustResultType.deny, SecTrustResultType.self, 3),
        .member("SecTrustResultType.unspecified", SecTrustResultType.unspecified, SecTrustResultType.self, 4),
        .member(
            "SecTrustResultType.recoverableTrustFailure", SecTrustResultType.recoverableTrustFailure,
            SecTrustResultType.self, 5),
        .member(
            "SecTrustResultType.fatalTrustFailure", SecTrustResultType.fatalTrustFailure, SecTrustResultType.self, 6),
        .member("SecTrustResultType.otherError", SecTrustResultType.otherError, SecTrustResultType.self, 7),
        .constant("kSecPropertyTypeError", kSecPropertyTypeError, CFString.self),
        .constant("kSecPropertyTypeTitle", kSecPropertyTypeTitle, CFString.self),
        .constant("kSecTrustCertificateTransparency", kSecTrustCertificateTransparency, CFString.self),
        .constant(
            "kSecTrustCertificateTransparencyWhiteList", kSecTrustCertificateTransparencyWhiteList, CFString.self),
        .constant("kSecTrustEvaluationDate", kSecTrustEvaluationDate, CFString.self),
        .constant("kSecTrustExtendedValidation", kSecTrustExtendedValidation, CFString.self),
        .constant("kSecTrustOrganizationName", kSecTrustOrganizationName, CFString.self),
        .constant("kSecTrustQCStatements", kSecTrustQCStatements, CFString.self),
        .constant("kSecTrustQWACValidation", kSecTrustQWACValidation, CFString.self),
        .constant("kSecTrustResultValue", kSecTrustResultValue, CFString.self),
        .constant("kSecTrustRevocationChecked", kSecTrustRevocationChecked, CFString.self),
        .constant("kSecTrustRevocationValidUntilDate", kSecTrustRevocationValidUntilDate, CFString.self),
        .function(
            "SecTrustCopyCertificateChain", SecTrustCopyCertificateChain(_:), (@Sendable (SecTrust) -> CFArray?).self),
        .function(
            "SecTrustCopyCustomAnchorCertificates", SecTrustCopyCustomAnchorCertificates(_:_:),
            (@Sendable (SecTrust, UnsafeMutablePointer<CFArray?>) -> OSStatus).self),
        .function("SecTrustCopyExceptions", SecTrustCopyExceptions(_:), (@Sendable (SecTrust) -> CFData?).self),
        .function("SecTrustCopyKey", SecTrustCopyKey(_:), (@Sendable (SecTrust) -> SecKey?).self),
        .function(
            "SecTrustCopyPolicies", SecTrustCopyPolicies(_:_:),
            (@Sendable (SecTrust, UnsafeMutablePointer<CFArray?>) -> OSStatus).self),
        .function("SecTrustCopyProperties", SecTrustCopyProperties(_:), (@Sendable (SecTrust) -> CFArray?).self),
        .function("SecTrustCopyPublicKey", SecTrustCopyPublicKey(_:), (@Sendable (SecTrust) -> SecKey?).self),
        .function("SecTrustCopyResult", SecTrustCopyResult(_:), (@Sendable (SecTrust) -> CFDictionary?).self),
        .function(
            "SecTrustCreateWithCertificates", SecTrustCreateWithCertificates(_:_:_:),
            (@Sendable (CFTypeRef, CFTypeRef?, UnsafeMutablePointer<SecTrust?>) -> OSStatus).self),
        .function(
            "SecTrustEvaluate", SecTrustEvaluate(_:_:),
            (@Sendable (SecTrust, UnsafeMutablePointer<SecTrustResultType>) -> OSStatus).self),
        .function(
            "SecTrustEvaluateWithError", SecTrustEvaluateWithError(_:_:),
            (@Sendable (SecTrust, UnsafeMutablePointer<CFError?>?) -> Bool).self),
        .function(
            "SecTrustGetCertificateAtIndex", SecTrustGetCertificateAtIndex(_:_:),
            (@Sendable (SecTrust, CFIndex) -> SecCertificate?).self),
        .function(
            "SecTrustGetCertificateCount", SecTrustGetCertificateCount(_:), (@Sendable (SecTrust) -> CFIndex).self),
        .function(
            "SecTrustGetTrustResult", SecTrustGetTrustResult(_:_:),
            (@Sendable (SecTrust, UnsafeMutablePointer<SecTrustResultType>) -> OSStatus).self),
        .function("SecTrustGetTypeID", SecTrustGetTypeID, (@Sendable () -> CFTypeID).self),
        .function("SecTrustGetVerifyTime", SecTrustGetVerifyTime(_:), (@Sendable (SecTrust) -> CFAbsoluteTime).self),
        .function(
            "SecTrustSetAnchorCertificates", SecTrustSetAnchorCertificates(_:_:),
            (@Sendable (SecTrust, CFArray?) -> OSStatus).self),
        .function(
            "SecTrustSetAnchorCertificatesOnly", SecTrustSetAnchorCertificatesOnly(_:_:),
            (@Sendable (SecTrust, Bool) -> OSStatus).self),
        .function("SecTrustSetExceptions", SecTrustSetExceptions(_:_:), (@Sendable (SecTrust, CFData?) -> Bool).self),
        .function(
            "SecTrustSetNetworkFetchAllowed", SecTrustSetNetworkFetchAllowed(_:_:),
            (@Sendable (SecTrust, Bool) -> OSStatus).self),
        .function("SecTrustSetPolicies", SecTrustSetPolicies(_:_:), (@Sendable (SecTrust, CFTypeRef) -> OSStatus).self),
        .function(
            "SecTrustSetVerifyDate", SecTrustSetVerifyDate(_:_:), (@Sendable (SecTrust, CFDate) -> OSStatus).self),
        .function(
            "SecTrustEvaluateAsync", SecTrustEvaluateAsync(_:_:_:),
            (@Sendable (SecTrust, DispatchQueue?, @escaping SecTrustCallback) -> OSStatus).self),
        .function(
            "SecTrustEvaluateAsyncWithError", SecTrustEvaluateAsyncWithError(_:_:_:),
            (@Sendable (SecTrust, DispatchQueue, @escaping SecTrustWithErrorCallback) -> OSStatus).self),
        .function(
            "SecTrustGetNetworkFetchAllowed", SecTrustGetNetworkFetchAllowed(_:_:),
            (@Sendable (SecTrust, UnsafeMutablePointer<DarwinBoolean>) -> OSStatus).self),
        .function(
            "SecTrustSetOCSPResponse", SecTrustSetOCSPResponse(_:_:),
            (@Sendable (SecTrust, CFTypeRef?) -> OSStatus).self),
        .function(
            "SecTrustSetSignedCertificateTimestamps", SecTrustSetSignedCertificateTimestamps(_:_:),
            (@Sendable (SecTrust, CFArray?) -> OSStatus).self),
    ]
}
