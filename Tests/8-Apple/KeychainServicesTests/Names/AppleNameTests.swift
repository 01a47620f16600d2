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
        ("SecPolicy.h", AppleName.secPolicy, 35),
        ("SecRandom.h", AppleName.secRandom, 3),
        ("SecSharedCredential.h", AppleName.secSharedCredential, 4),
        ("SecTrust.h", AppleName.secTrust, 51),
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
        #expect(Self.headers.map(\.count).reduce(0, +) == 868)
    }
}
