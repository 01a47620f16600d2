import KeychainServices

extension AppleName {
    /// Names of SecPolicy.h.
    static let secPolicy: [AppleName] = [
        .constant("kSecPolicyAppleCodeSigning", kSecPolicyAppleCodeSigning, CFString.self),
        .constant("kSecPolicyAppleEAP", kSecPolicyAppleEAP, CFString.self),
        .constant("kSecPolicyAppleEAPClient", kSecPolicyAppleEAPClient, CFString.self),
        .constant("kSecPolicyAppleEAPServer", kSecPolicyAppleEAPServer, CFString.self),
        .constant("kSecPolicyAppleIDValidation", kSecPolicyAppleIDValidation, CFString.self),
        .constant("kSecPolicyAppleIPSecClient", kSecPolicyAppleIPSecClient, CFString.self),
        .constant("kSecPolicyAppleIPSecServer", kSecPolicyAppleIPSecServer, CFString.self),
        .constant("kSecPolicyAppleIPsec", kSecPolicyAppleIPsec, CFString.self),
        .constant("kSecPolicyApplePassbookSigning", kSecPolicyApplePassbookSigning, CFString.self),
        .constant("kSecPolicyApplePayIssuerEncryption", kSecPolicyApplePayIssuerEncryption, CFString.self),
        .constant("kSecPolicyAppleRevocation", kSecPolicyAppleRevocation, CFString.self),
        .constant("kSecPolicyAppleSMIME", kSecPolicyAppleSMIME, CFString.self),
        .constant("kSecPolicyAppleSSL", kSecPolicyAppleSSL, CFString.self),
        .constant("kSecPolicyAppleSSLClient", kSecPolicyAppleSSLClient, CFString.self),
        .constant("kSecPolicyAppleSSLServer", kSecPolicyAppleSSLServer, CFString.self),
        .constant("kSecPolicyAppleTimeStamping", kSecPolicyAppleTimeStamping, CFString.self),
        .constant("kSecPolicyAppleX509Basic", kSecPolicyAppleX509Basic, CFString.self),
        .constant("kSecPolicyClient", kSecPolicyClient, CFString.self),
        .constant("kSecPolicyMacAppStoreReceipt", kSecPolicyMacAppStoreReceipt, CFString.self),
        .constant("kSecPolicyName", kSecPolicyName, CFString.self),
        .constant("kSecPolicyOid", kSecPolicyOid, CFString.self),
        .constant("kSecPolicyRevocationFlags", kSecPolicyRevocationFlags, CFString.self),
        .constant("kSecPolicyTeamIdentifier", kSecPolicyTeamIdentifier, CFString.self),
        .function(
            "SecPolicyCopyProperties", SecPolicyCopyProperties(_:), (@Sendable (SecPolicy) -> CFDictionary?).self),
        .function("SecPolicyCreateBasicX509", SecPolicyCreateBasicX509, (@Sendable () -> SecPolicy).self),
        .function("SecPolicyCreateSSL", SecPolicyCreateSSL(_:_:), (@Sendable (Bool, CFString?) -> SecPolicy).self),
        .function(
            "SecPolicyCreateWithProperties", SecPolicyCreateWithProperties(_:_:),
            (@Sendable (CFTypeRef, CFDictionary?) -> SecPolicy?).self),
        .function("SecPolicyGetTypeID", SecPolicyGetTypeID, (@Sendable () -> CFTypeID).self),
        .flag("kSecRevocationNetworkAccessDisabled", kSecRevocationNetworkAccessDisabled, 16),
        .flag("kSecRevocationRequirePositiveResponse", kSecRevocationRequirePositiveResponse, 8),
        .flag("kSecRevocationPreferCRL", kSecRevocationPreferCRL, 4),
        .flag("kSecRevocationUseAnyAvailableMethod", kSecRevocationUseAnyAvailableMethod, 3),
        .flag("kSecRevocationCRLMethod", kSecRevocationCRLMethod, 2),
        .flag("kSecRevocationOCSPMethod", kSecRevocationOCSPMethod, 1),
        .function(
            "SecPolicyCreateRevocation", SecPolicyCreateRevocation(_:),
            (@Sendable (CFOptionFlags) -> SecPolicy?).self),
    ]
}
