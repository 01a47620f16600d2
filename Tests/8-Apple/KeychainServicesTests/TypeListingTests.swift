import Foundation
import Security
import Testing

/// Listings that tell types apart and convert them, as they compile on Apple's systems. They are here unchanged.
@Suite("Listings that ask for types")
struct TypeListingTests {
    private enum KeychainError: Error, Equatable {
        case unexpectedType(String)
    }

    private func certificate() throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, RefsFixtures.certificate as CFData))
    }

    // MARK: A reference of any type

    private func key(from item: CFTypeRef?) throws -> SecKey {
        guard let item, CFGetTypeID(item) == SecKeyGetTypeID() else {
            throw KeychainError.unexpectedType("no key")
        }
        return item as! SecKey
    }

    private func kind(of item: CFTypeRef) -> String {
        switch CFGetTypeID(item) {
        case SecKeyGetTypeID(): return "key of \(SecKeyGetBlockSize(item as! SecKey)) bytes"
        case SecCertificateGetTypeID():
            return "certificate \(SecCertificateCopySubjectSummary(item as! SecCertificate) as String? ?? "")"
        case SecTrustGetTypeID(): return "trust of \(SecTrustGetCertificateCount(item as! SecTrust))"
        case SecPolicyGetTypeID(): return "policy \(SecPolicyCopyProperties(item as! SecPolicy) == nil)"
        case SecAccessControlGetTypeID(): return "access control"
        case CFDataGetTypeID(): return "data of \((item as! Data).count) bytes"
        case CFStringGetTypeID(): return "text \(item as! String)"
        case CFBooleanGetTypeID(): return "boolean \(CFBooleanGetValue((item as! CFBoolean)))"
        case CFNumberGetTypeID(): return "number \(item as! Int)"
        case CFDictionaryGetTypeID(): return "dictionary of \((item as! [String: Any]).count)"
        case CFArrayGetTypeID(): return "array of \((item as! [Any]).count)"
        case CFErrorGetTypeID(): return "error \(CFErrorGetCode((item as! CFError)))"
        case CFNullGetTypeID(): return "null"
        default: return CFCopyTypeIDDescription(CFGetTypeID(item)) as String? ?? "unknown"
        }
    }

    @Test func theTypeDecides() throws {
        let certificate = try certificate()
        let key = try #require(SecCertificateCopyKey(certificate))
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificate, SecPolicyCreateBasicX509(), &trust) == errSecSuccess)
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)

        #expect(try self.key(from: key) == key)
        for other in [nil, certificate, "text" as CFString, kCFNull] as [CFTypeRef?] {
            #expect(throws: KeychainError.unexpectedType("no key")) { try self.key(from: other) }
        }
        #expect(kind(of: key).hasPrefix("key of "))
        #expect(kind(of: certificate).hasPrefix("certificate "))
        #expect(kind(of: try #require(trust)) == "trust of 1")
        #expect(kind(of: SecPolicyCreateSSL(true, nil)) == "policy false")
        #expect(kind(of: try #require(control)) == "access control")
        #expect(kind(of: Data([1, 2]) as CFData) == "data of 2 bytes")
        #expect(kind(of: "a" as CFString) == "text a")
        #expect(kind(of: kCFBooleanTrue) == "boolean true" && kind(of: false as CFBoolean) == "boolean false")
        #expect(kind(of: 7 as CFNumber) == "number 7" && kind(of: 1 as CFNumber) == "number 1")
        #expect(kind(of: ["a": 1] as CFDictionary) == "dictionary of 1")
        #expect(kind(of: ["a", "b"] as CFArray) == "array of 2")
        #expect(kind(of: NSError(domain: "d", code: 3) as CFError) == "error 3")
        #expect(kind(of: kCFNull) == "null" && kind(of: NSSet()) == "CFSet")
        #expect(kind(of: NSUUID()) == "unknown")
    }

    @Test func typesHaveNames() {
        let names: [(CFTypeID, String)] = [
            (SecKeyGetTypeID(), "SecKey"), (SecCertificateGetTypeID(), "SecCertificate"),
            (SecIdentityGetTypeID(), "SecIdentity"), (SecTrustGetTypeID(), "SecTrust"),
            (SecPolicyGetTypeID(), "SecPolicy"), (SecAccessControlGetTypeID(), "SecAccessControl"),
            (CFBooleanGetTypeID(), "CFBoolean"), (CFNumberGetTypeID(), "CFNumber"), (CFErrorGetTypeID(), "CFError"),
        ]
        for (type, name) in names { #expect(CFCopyTypeIDDescription(type) as String == name) }
        #expect(CFCopyTypeIDDescription(0) == nil)
    }

    // MARK: Errors

    private func create(_ bytes: Data) throws -> SecKey {
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, &error) else {
            throw error!.takeRetainedValue() as any Error
        }
        return key
    }

    @Test func anErrorOfAnOutParameterIsThrown() throws {
        #expect(throws: Never.self) { try create(RefsFixtures.rsaPublicKey) }
        do {
            _ = try create(Data([1]))
            Issue.record("a key of one byte")
        } catch let error as NSError {
            #expect(error.domain == NSOSStatusErrorDomain && error.code == Int(errSecParam))
        }
        do {
            _ = try create(Data([1]))
        } catch {
            let error = error as CFError
            #expect(CFErrorGetCode(error) == CFIndex(errSecParam))
            #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        }
    }

    @Test func errorsAreConverted() throws {
        let made = CFErrorCreate(
            nil, kCFErrorDomainOSStatus, -50, [kCFErrorDescriptionKey as String: "a"] as CFDictionary)!
        let error = made as any Error
        let object = made as NSError
        #expect((error as NSError).code == -50 && object.domain == NSOSStatusErrorDomain)
        #expect(object as CFError === made && (error as CFError) === made)
        let retained = Unmanaged<CFError>.passRetained(made)
        #expect(retained.takeRetainedValue() === made)
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(try certificate(), nil, &trust) == errSecSuccess)
        var reason: CFError?
        if !SecTrustEvaluateWithError(try #require(trust), &reason), let reason {
            let status = OSStatus(CFErrorGetCode(reason))
            #expect(status != errSecSuccess && !(CFErrorCopyDescription(reason) as String).isEmpty)
        } else {
            Issue.record("a certificate without an anchor is trusted")
        }
    }

    // MARK: Booleans and numbers

    @Test func booleansAreConverted() {
        let query: [CFString: Any] = [kSecReturnData: kCFBooleanTrue!, kSecReturnAttributes: true as CFBoolean]
        #expect(query[kSecReturnData] as? Bool == true && query[kSecReturnAttributes] as! Bool)
        let boolean: CFBoolean = kCFBooleanFalse
        #expect(!(boolean as! Bool) && boolean as NSNumber == 0 && !CFBooleanGetValue(boolean))
        #expect((query as CFDictionary)[kSecReturnData] as? NSNumber === kCFBooleanTrue)
        let number = 5 as CFNumber
        #expect(number as! Int == 5 && (number as NSNumber).intValue == 5)
    }
}
