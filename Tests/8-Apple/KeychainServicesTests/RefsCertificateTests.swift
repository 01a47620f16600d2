import Foundation
import KeychainModel
import Testing

@testable import KeychainServices

@Suite("SecCertificate, SecIdentity and references")
struct RefsCertificateTests {
    private let certificate: SecCertificate
    private let key: SecKey

    init() throws {
        certificate = try #require(SecCertificateCreateWithData(nil, RefsFixtures.certificate as CFData))
        key = try #require(SecKey(bytes: RefsFixtures.privateKey, type: 73, keyClass: 1))
    }

    private func bytes(_ base64: String) -> Data? { Data(base64Encoded: base64) }

    @Test func accessors() throws {
        #expect(SecCertificateCopyData(certificate) as Data == RefsFixtures.certificate)
        #expect(SecCertificateCopySubjectSummary(certificate) == "leaf one")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess)
        #expect(name == "leaf one")
        var addresses: CFArray?
        #expect(SecCertificateCopyEmailAddresses(certificate, &addresses) == errSecSuccess)
        #expect(addresses?.count == 0)
        #expect(SecCertificateCopySerialNumberData(certificate, nil) as Data? == Data([0x12, 0x34]))
        #expect(
            SecCertificateCopyNormalizedSubjectSequence(certificate) as Data? == bytes("MBMxETAPBgNVBAMMCGxlYWYgb25l"))
        #expect(
            SecCertificateCopyNormalizedIssuerSequence(certificate) as Data?
                == bytes("MCQxCzAJBgNVBAYTAlVTMRUwEwYDVQQDEwxDT05GIFRFU1QgQ0E="))
        #expect(SecCertificateCopySerialNumber(certificate) as Data? == Data([0x12, 0x34]))
        // 1 January 2020 and 2040, 00:00 UTC.
        let (start, end) = (Date(timeIntervalSince1970: 1_577_836_800), Date(timeIntervalSince1970: 2_208_988_800))
        #expect(SecCertificateCopyNotValidBeforeDate(certificate) as Date? == start)
        #expect(SecCertificateCopyNotValidAfterDate(certificate) as Date? == end)
        let publicKey = try #require(SecCertificateCopyKey(certificate))
        #expect(SecCertificateCopyPublicKey(certificate) == publicKey)
        #expect(publicKey == SecKeyCopyPublicKey(key))
        #expect(CFGetTypeID(certificate) == SecCertificateGetTypeID())
    }

    @Test func onlyCompleteCertificatesAreCreated() {
        for data in [Data(), RefsFixtures.certificate.dropLast(), RefsFixtures.certificate + [0]] {
            #expect(SecCertificateCreateWithData(kCFAllocatorDefault, Data(data) as CFData) == nil)
        }
    }

    @Test func equalityIsByEncoding() throws {
        let again = try #require(SecCertificateCreateWithData(nil, RefsFixtures.certificate as CFData))
        #expect(again == certificate)
        #expect(again.hashValue == certificate.hashValue)
        #expect(!CFEqual(certificate, key))
    }

    @Test func storedAttributesOfACertificate() {
        let expected: [AttributeName: AttributeValue?] = [
            "ctyp": .number(3), "cenc": .number(3), "slnr": .data(Data([0x12, 0x34])),
            "issr": bytes("MQswCQYDVQQGEwJVUzEVMBMGA1UEAxMMQ09ORiBURVNUIENB").map { .data($0) },
            "subj": bytes("MREwDwYDVQQDDAhsZWFmIG9uZQ==").map { .data($0) },
            "skid": .data(Data(repeating: 0x11, count: 20)), "pkhh": .data(RefsFixtures.publicKeyHash),
            "labl": .string("leaf one"),
        ]
        let named = expected.compactMap { name, value in value.map { (name, $0) } }
        #expect(certificate.storedAttributes == ItemAttributes(uniqueKeysWithValues: named))
        #expect(certificate.identifyingAttributes[.label] == nil, "the label may have been changed since")
        #expect(certificate.storedValue == RefsFixtures.certificate)
    }

    @Test func everyStoredAttributeIsOneOfItsClass() {
        for reference in [certificate, key] as [any ItemReference] {
            let schema = reference.itemClass.schema
            #expect(reference.storedAttributes.names.allSatisfy { schema[$0] != nil })
            for (name, value) in reference.identifyingAttributes {
                #expect(reference.storedAttributes[name] == value)
            }
        }
    }

    @Test func identities() throws {
        let identity = try #require(SecIdentityCreate(nil, certificate, key))
        var half: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &half) == errSecSuccess)
        #expect(half == certificate)
        var other: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &other) == errSecSuccess)
        #expect(other == key)
        #expect(identity == SecIdentityCreate(nil, certificate, key))
        #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
    }

    @Test func identitiesNeedTheMatchingPrivateKey() throws {
        #expect(SecIdentityCreate(nil, certificate, try #require(SecKeyCopyPublicKey(key))) == nil)
        let stranger = try #require(SecKey(bytes: RefsFixtures.rsaPublicKey, type: 42, keyClass: 0))
        #expect(SecIdentityCreate(nil, certificate, stranger) == nil)
    }

    private func item(
        _ itemClass: ItemClass, _ attributes: ItemAttributes, _ value: Data?
    ) -> StoredItem {
        StoredItem(
            itemClass: itemClass, identifier: UUID(), attributes: attributes, accessGroup: "group",
            accessControl: AccessControl(protection: .whenUnlocked), isSynchronizable: false, creationDate: Date(),
            modificationDate: Date(), value: value)
    }

    /// Apple, SecItem.m: a search for an identity itself has no other result than its persistent reference.
    @Test func aSearchForAnIdentityTellsItsPersistentReference() throws {
        let identity = try #require(SecIdentityCreate(nil, certificate, key))
        try onFreshVault {
            #expect(SecItemAdd([kSecValueRef: identity] as CFDictionary, nil) == errSecSuccess)
            func found(_ flags: CFString...) throws -> CFTypeRef? {
                var query: [CFString: Any] = [kSecValueRef: identity]
                for flag in flags { query[flag] = true }
                var result: CFTypeRef?
                try #require(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
                return result
            }
            let persistent = try found(kSecReturnPersistentRef)
            #expect(persistent is Data)
            let others = [
                try found(kSecReturnData), try found(kSecReturnAttributes), try found(kSecReturnRef),
                try found(kSecReturnAttributes, kSecReturnPersistentRef),
            ]
            #expect(others.allSatisfy { $0 == nil })

            // A search for identities returns what it is asked for.
            var result: CFTypeRef?
            let query = [kSecClass: kSecClassIdentity, kSecReturnRef: true] as CFDictionary
            #expect(SecItemCopyMatching(query, &result) == errSecSuccess)
            #expect(result as? SecIdentity == identity)
        }
    }

    @Test func referencesAreMadeFromStoredItems() throws {
        let storedKey = item(.key, key.storedAttributes, key.storedValue)
        #expect(ItemReferences.reference(for: storedKey) as? SecKey == key)
        let storedCertificate = item(.certificate, certificate.storedAttributes, certificate.storedValue)
        #expect(ItemReferences.reference(for: storedCertificate) as? SecCertificate == certificate)

        var identity = item(.identity, certificate.storedAttributes, certificate.storedValue)
        #expect(ItemReferences.reference(for: identity) == nil)
        identity.identityKey = StoredItem.IdentityKey(
            identifier: UUID(), attributes: key.storedAttributes, value: key.storedValue)
        let expected = try #require(SecIdentityCreate(nil, certificate, key))
        #expect(ItemReferences.reference(for: identity) as? SecIdentity == expected)
    }

    @Test func itemsWithoutAnObjectGiveNone() {
        #expect(ItemReferences.reference(for: item(.genericPassword, [:], Data("secret".utf8))) == nil)
        #expect(ItemReferences.reference(for: item(.internetPassword, [:], Data("secret".utf8))) == nil)
        #expect(ItemReferences.reference(for: item(.key, [:], Data("1".utf8))) == nil)
        #expect(ItemReferences.reference(for: item(.key, key.storedAttributes, Data("1".utf8))) == nil)
        #expect(ItemReferences.reference(for: item(.key, key.storedAttributes, nil)) == nil)
        #expect(ItemReferences.reference(for: item(.certificate, [:], Data("1".utf8))) == nil)
    }
}
