import Testing

@Suite("Apple's names") struct AppleNameTests {
    /// Each header's list, and how many names it has.
    private static let headers: [(header: String, names: [AppleName], count: Int)] = [
        ("SecAccessControl.h", AppleName.secAccessControl, 14),
        ("SecBase.h", AppleName.secBase + AppleName.secBaseModules + AppleName.secBaseTLS, 464),
        ("SecCertificate.h", AppleName.secCertificate, 14),
        ("SecIdentity.h", AppleName.secIdentity, 4),
        ("SecImportExport.h", AppleName.secImportExport, 8),
        ("SecItem.h", AppleName.secItem, 143),
        ("SecKey.h", AppleName.secKey, 128),
        ("SecPolicy.h", AppleName.secPolicy, 28),
        ("SecRandom.h", AppleName.secRandom, 3),
        ("SecSharedCredential.h", AppleName.secSharedCredential, 4),
        ("SecTrust.h", AppleName.secTrust, 46),
    ]

    @Test func everyNameHasApplesType() {
        for list in Self.headers {
            #expect(list.names.compactMap(\.difference) == [], "\(list.header)")
        }
    }

    @Test func noNameIsLeftOut() {
        for list in Self.headers {
            #expect(Set(list.names.map(\.name)).count == list.count, "\(list.header)")
            #expect(list.names.count == list.count, "\(list.header)")
        }
        #expect(Self.headers.map(\.count).reduce(0, +) + pending.count == 868)
    }
}

/// The entries of names that the module has not got. Each belongs into the list of its header, whose count then grows.
private let pending = """
    .flag("kSecRevocationNetworkAccessDisabled", kSecRevocationNetworkAccessDisabled, 16),
    .flag("kSecRevocationRequirePositiveResponse", kSecRevocationRequirePositiveResponse, 8),
    .flag("kSecRevocationPreferCRL", kSecRevocationPreferCRL, 4),
    .flag("kSecRevocationUseAnyAvailableMethod", kSecRevocationUseAnyAvailableMethod, 3),
    .flag("kSecRevocationCRLMethod", kSecRevocationCRLMethod, 2),
    .flag("kSecRevocationOCSPMethod", kSecRevocationOCSPMethod, 1),
    .function("SecPolicyCreateRevocation", SecPolicyCreateRevocation(_:), \
        (@Sendable (CFOptionFlags) -> SecPolicy?).self),
    .function("SecTrustEvaluateAsync", SecTrustEvaluateAsync(_:_:_:), \
        (@Sendable (SecTrust, DispatchQueue?, @escaping SecTrustCallback) -> OSStatus).self),
    .function("SecTrustEvaluateAsyncWithError", SecTrustEvaluateAsyncWithError(_:_:_:), \
        (@Sendable (SecTrust, DispatchQueue, @escaping SecTrustWithErrorCallback) -> OSStatus).self),
    .function("SecTrustGetNetworkFetchAllowed", SecTrustGetNetworkFetchAllowed(_:_:), \
        (@Sendable (SecTrust, UnsafeMutablePointer<DarwinBoolean>) -> OSStatus).self),
    .function("SecTrustSetOCSPResponse", SecTrustSetOCSPResponse(_:_:), \
        (@Sendable (SecTrust, CFTypeRef?) -> OSStatus).self),
    .function("SecTrustSetSignedCertificateTimestamps", SecTrustSetSignedCertificateTimestamps(_:_:), \
        (@Sendable (SecTrust, CFArray?) -> OSStatus).self),
    """.split(separator: "\n")
