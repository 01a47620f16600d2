import KeychainServices

extension AppleName {
    /// Names of SecSharedCredential.h.
    static let secSharedCredential: [AppleName] = [
        .constant("kSecSharedPassword", kSecSharedPassword, CFString.self),
        .function(
            "SecAddSharedWebCredential", SecAddSharedWebCredential(_:_:_:_:),
            (@Sendable (CFString, CFString, CFString?, @escaping (CFError?) -> Void) -> Void).self),
        .function(
            "SecCreateSharedWebCredentialPassword", SecCreateSharedWebCredentialPassword,
            (@Sendable () -> CFString?).self),
        .function(
            "SecRequestSharedWebCredential", SecRequestSharedWebCredential(_:_:_:),
            (@Sendable (CFString?, CFString?, @escaping (CFArray?, CFError?) -> Void) -> Void).self),
    ]

    /// Names of SecImportExport.h.
    static let secImportExport: [AppleName] = [
        .constant("kSecImportExportPassphrase", kSecImportExportPassphrase, CFString.self),
        .constant("kSecImportItemCertChain", kSecImportItemCertChain, CFString.self),
        .constant("kSecImportItemIdentity", kSecImportItemIdentity, CFString.self),
        .constant("kSecImportItemKeyID", kSecImportItemKeyID, CFString.self),
        .constant("kSecImportItemLabel", kSecImportItemLabel, CFString.self),
        .constant("kSecImportItemTrust", kSecImportItemTrust, CFString.self),
        .constant("kSecImportToMemoryOnly", kSecImportToMemoryOnly, CFString.self),
        .function(
            "SecPKCS12Import", SecPKCS12Import(_:_:_:),
            (@Sendable (CFData, CFDictionary, UnsafeMutablePointer<CFArray?>) -> OSStatus).self),
    ]

    /// Names of SecRandom.h.
    static let secRandom: [AppleName] = [
        .alias("SecRandomRef", SecRandomRef.self, OpaquePointer.self),
        .constant("kSecRandomDefault", kSecRandomDefault, SecRandomRef.self),
        .function(
            "SecRandomCopyBytes", SecRandomCopyBytes(_:_:_:),
            (@Sendable (SecRandomRef?, Int, UnsafeMutableRawPointer) -> Int32).self),
    ]

    /// Names of SecAccessControl.h.
    static let secAccessControl: [AppleName] = [
        .options("SecAccessControlCreateFlags", SecAccessControlCreateFlags.self, CFOptionFlags.self),
        .member(
            "SecAccessControlCreateFlags.userPresence", SecAccessControlCreateFlags.userPresence,
            SecAccessControlCreateFlags.self, 1),
        .member(
            "SecAccessControlCreateFlags.biometryAny", SecAccessControlCreateFlags.biometryAny,
            SecAccessControlCreateFlags.self, 2),
        .member(
            "SecAccessControlCreateFlags.touchIDAny", SecAccessControlCreateFlags.touchIDAny,
            SecAccessControlCreateFlags.self, 2),
        .member(
            "SecAccessControlCreateFlags.biometryCurrentSet", SecAccessControlCreateFlags.biometryCurrentSet,
            SecAccessControlCreateFlags.self, 8),
        .member(
            "SecAccessControlCreateFlags.touchIDCurrentSet", SecAccessControlCreateFlags.touchIDCurrentSet,
            SecAccessControlCreateFlags.self, 8),
        .member(
            "SecAccessControlCreateFlags.devicePasscode", SecAccessControlCreateFlags.devicePasscode,
            SecAccessControlCreateFlags.self, 16),
        .member(
            "SecAccessControlCreateFlags.companion", SecAccessControlCreateFlags.companion,
            SecAccessControlCreateFlags.self, 32),
        .member(
            "SecAccessControlCreateFlags.or", SecAccessControlCreateFlags.or, SecAccessControlCreateFlags.self, 16384),
        .member(
            "SecAccessControlCreateFlags.and", SecAccessControlCreateFlags.and, SecAccessControlCreateFlags.self, 32768),
        .member(
            "SecAccessControlCreateFlags.privateKeyUsage", SecAccessControlCreateFlags.privateKeyUsage,
            SecAccessControlCreateFlags.self, 1_073_741_824),
        .member(
            "SecAccessControlCreateFlags.applicationPassword", SecAccessControlCreateFlags.applicationPassword,
            SecAccessControlCreateFlags.self, 2_147_483_648),
        .function(
            "SecAccessControlCreateWithFlags", SecAccessControlCreateWithFlags(_:_:_:_:),
            (@Sendable (
                CFAllocator?, CFTypeRef, SecAccessControlCreateFlags, UnsafeMutablePointer<Unmanaged<CFError>?>?
            ) -> SecAccessControl?).self),
        .function("SecAccessControlGetTypeID", SecAccessControlGetTypeID, (@Sendable () -> CFTypeID).self),
    ]

    /// Names of SecIdentity.h.
    static let secIdentity: [AppleName] = [
        .function(
            "SecIdentityCopyCertificate", SecIdentityCopyCertificate(_:_:),
            (@Sendable (SecIdentity, UnsafeMutablePointer<SecCertificate?>) -> OSStatus).self),
        .function(
            "SecIdentityCopyPrivateKey", SecIdentityCopyPrivateKey(_:_:),
            (@Sendable (SecIdentity, UnsafeMutablePointer<SecKey?>) -> OSStatus).self),
        .function(
            "SecIdentityCreate", SecIdentityCreate(_:_:_:),
            (@Sendable (CFAllocator?, SecCertificate, SecKey) -> SecIdentity?).self),
        .function("SecIdentityGetTypeID", SecIdentityGetTypeID, (@Sendable () -> CFTypeID).self),
    ]

    /// Names of SecCertificate.h.
    static let secCertificate: [AppleName] = [
        .function(
            "SecCertificateCopyCommonName", SecCertificateCopyCommonName(_:_:),
            (@Sendable (SecCertificate, UnsafeMutablePointer<CFString?>) -> OSStatus).self),
        .function("SecCertificateCopyData", SecCertificateCopyData(_:), (@Sendable (SecCertificate) -> CFData).self),
        .function(
            "SecCertificateCopyEmailAddresses", SecCertificateCopyEmailAddresses(_:_:),
            (@Sendable (SecCertificate, UnsafeMutablePointer<CFArray?>) -> OSStatus).self),
        .function("SecCertificateCopyKey", SecCertificateCopyKey(_:), (@Sendable (SecCertificate) -> SecKey?).self),
        .function(
            "SecCertificateCopyNormalizedIssuerSequence", SecCertificateCopyNormalizedIssuerSequence(_:),
            (@Sendable (SecCertificate) -> CFData?).self),
        .function(
            "SecCertificateCopyNormalizedSubjectSequence", SecCertificateCopyNormalizedSubjectSequence(_:),
            (@Sendable (SecCertificate) -> CFData?).self),
        .function(
            "SecCertificateCopyNotValidAfterDate", SecCertificateCopyNotValidAfterDate(_:),
            (@Sendable (SecCertificate) -> CFDate?).self),
        .function(
            "SecCertificateCopyNotValidBeforeDate", SecCertificateCopyNotValidBeforeDate(_:),
            (@Sendable (SecCertificate) -> CFDate?).self),
        .function(
            "SecCertificateCopyPublicKey", SecCertificateCopyPublicKey(_:), (@Sendable (SecCertificate) -> SecKey?).self
        ),
        .function(
            "SecCertificateCopySerialNumber", SecCertificateCopySerialNumber(_:),
            (@Sendable (SecCertificate) -> CFData?).self),
        .function(
            "SecCertificateCopySerialNumberData", SecCertificateCopySerialNumberData(_:_:),
            (@Sendable (SecCertificate, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?).self),
        .function(
            "SecCertificateCopySubjectSummary", SecCertificateCopySubjectSummary(_:),
            (@Sendable (SecCertificate) -> CFString?).self),
        .function(
            "SecCertificateCreateWithData", SecCertificateCreateWithData(_:_:),
            (@Sendable (CFAllocator?, CFData) -> SecCertificate?).self),
        .function("SecCertificateGetTypeID", SecCertificateGetTypeID, (@Sendable () -> CFTypeID).self),
    ]
}
