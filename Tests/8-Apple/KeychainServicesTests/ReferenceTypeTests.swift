import Foundation
import KeychainServices
import Testing

/// As on Apple's systems, the types of Security have no superclass, so that a program can extend them and `NSObject`
/// with the same members and conformances.
@Suite struct ReferenceTypeTests {
    private let certificate: SecCertificate
    private let key: SecKey
    private let trust: SecTrust

    init() throws {
        certificate = try #require(SecCertificateCreateWithData(nil, RefsFixtures.certificate as CFData))
        key = try #require(SecCertificateCopyKey(certificate))
        var created: SecTrust?
        try #require(SecTrustCreateWithCertificates(certificate, SecPolicyCreateBasicX509(), &created) == errSecSuccess)
        trust = try #require(created)
    }

    @Test func extensionsOfTheTypesDoNotCollideWithThoseOfNSObject() {
        let objects: [any Labelled] = [certificate, key, trust, SecPolicyCreateBasicX509(), NSNull()]
        #expect(objects.map(\.label) == ["certificate", "key", "trust", "policy", "object"])
        #expect("\(trust)" == "trust: the program's own description")
    }

    @Test func collectionsOfFoundationHoldAndCompareThem() throws {
        let again = try #require(SecCertificateCreateWithData(nil, RefsFixtures.certificate as CFData))
        let array = [certificate, key] as CFArray
        #expect(array.contains(again) && array.index(of: again) == 0)
        #expect(array == [again, key] as CFArray)
        #expect(array[0] as? SecCertificate == certificate && array[1] as? SecKey == key)
        #expect([certificate] as CFArray as? [SecCertificate] == [again])
        #expect(NSSet(array: [certificate, again]).count == 1)

        let dictionary = [kSecValueRef: certificate, kSecMatchIssuers: [again]] as CFDictionary
        #expect(dictionary[kSecValueRef] as? SecCertificate == again)
        #expect((dictionary as? [String: Any])?[kSecMatchIssuers as String] as? [SecCertificate] == [certificate])
        #expect(dictionary == [kSecValueRef: again, kSecMatchIssuers: [certificate]] as CFDictionary)
    }

    @Test func equalObjectsHaveTheSameHash() throws {
        let again = try #require(SecCertificateCreateWithData(nil, RefsFixtures.certificate as CFData))
        #expect(CFEqual(certificate, again) && CFHash(certificate) == CFHash(again))
        #expect(CFEqual(key, SecCertificateCopyKey(again)))
        #expect(CFEqual(SecPolicyCreateBasicX509(), SecPolicyCreateBasicX509()))
        #expect(!CFEqual(SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, "localhost" as CFString)))
        #expect(!CFEqual(certificate, key))

        var other: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificate, SecPolicyCreateBasicX509(), &other) == errSecSuccess)
        #expect(CFEqual(trust, trust) && !CFEqual(trust, other))
    }

    @Test func anObjectOfAnyTypeIsOfItsOwn() {
        let object: CFTypeRef = certificate
        #expect(object as? SecCertificate != nil && object as? SecKey == nil && object as? NSObject == nil)
        #expect(CFGetTypeID(object) == SecCertificateGetTypeID())
    }
}

private protocol Labelled { var label: String { get } }
extension NSObject: Labelled { fileprivate var label: String { "object" } }
extension SecCertificate: Labelled { fileprivate var label: String { "certificate" } }
extension SecKey: Labelled { fileprivate var label: String { "key" } }
extension SecTrust: Labelled { fileprivate var label: String { "trust" } }
extension SecPolicy: Labelled { fileprivate var label: String { "policy" } }

extension SecTrust: CustomStringConvertible {
    public var description: String { "trust: the program's own description" }
}
