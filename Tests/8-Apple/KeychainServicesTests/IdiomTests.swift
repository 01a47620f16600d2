import Bytes
import Foundation
import KeychainModel
import Security
import Testing

/// The ways in which Swift programs spell SecItem calls on Apple's systems: all have to compile as they are.
@Suite struct IdiomTests {
    @Test func stringKeysAndCasts() throws {
        try onFreshVault {
            let attributes: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrAccount as String: "alice",
                kSecAttrService as String: "mail",
                kSecValueData as String: Data("pw".utf8),
            ]
            #expect(SecItemAdd(attributes as CFDictionary, nil) == errSecSuccess)
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrAccount as String: "alice",
                kSecReturnData as String: true,
                kSecMatchLimit as String: kSecMatchLimitOne,
            ]
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            guard status == errSecSuccess, let data = item as? Data, let text = String(data: data, encoding: .utf8)
            else {
                Issue.record("status \(status)")
                return
            }
            #expect(text == "pw")
        }
    }

    @Test func attributesAndValueAsDictionary() throws {
        try onFreshVault {
            var query: [String: Any] = [:]
            query[kSecClass as String] = kSecClassInternetPassword
            query[kSecAttrServer as String] = "example.com"
            query[kSecAttrAccount as String] = "bob"
            query[kSecAttrPort as String] = 443
            query[kSecAttrProtocol as String] = kSecAttrProtocolHTTPS
            query[kSecValueData as String] = "pw".data(using: .utf8)!
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)

            query.removeValue(forKey: kSecValueData as String)
            query[kSecReturnAttributes as String] = kCFBooleanTrue
            query[kSecReturnData as String] = kCFBooleanTrue!
            var result: AnyObject?
            let status = withUnsafeMutablePointer(to: &result) {
                SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
            }
            #expect(status == noErr)
            let found = try #require(result as? [String: Any])
            #expect(found[kSecAttrAccount as String] as? String == "bob")
            #expect(found[kSecAttrPort as String] as? Int == 443)
            #expect(found[kSecAttrProtocol as String] as? String == "htps")
            #expect(found[kSecValueData as String] as? Data == Data("pw".utf8))
            #expect(found[kSecAttrSynchronizable as String] as? Bool == false)
            #expect(found[kSecAttrCreationDate as String] is Date)
            #expect(found[kSecAttrPath as String] as? String == "")
            #expect((result as? [CFString: Any])?[kSecAttrServer] as? String == "example.com")
            #expect((result as? NSDictionary)?[kSecAttrAccount] as? String == "bob")
        }
    }

    @Test func literalsWithConstantsAsKeys() throws {
        try onFreshVault {
            #expect(
                SecItemAdd(
                    [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecValueData: Data([1])]
                        as CFDictionary, nil) == errSecSuccess)
            let query =
                [
                    kSecClass: kSecClassGenericPassword, kSecReturnAttributes: true,
                    kSecMatchLimit: kSecMatchLimitAll,
                ] as [CFString: Any]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            let found = try #require(result as? [[String: Any]])
            #expect(found.map { $0[kSecAttrAccount as String] as? String } == ["a"])
            #expect(SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete([kSecClass: kSecClassGenericPassword] as NSDictionary) == errSecItemNotFound)
        }
    }

    @Test func hashableValues() throws {
        try onFreshVault {
            var error: Unmanaged<CFError>?
            let control = try #require(
                SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleAfterFirstUnlock, [], &error))
            let query: [String: AnyHashable] = [
                kSecClass as String: kSecClassGenericPassword as String,
                kSecAttrAccount as String: "a",
                kSecAttrAccessControl as String: control,
                kSecValueData as String: Data([1, 2]),
                kSecAttrIsInvisible as String: true,
                kSecReturnAttributes as String: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemAdd(query as CFDictionary, &result) == errSecSuccess)
            let found = try #require(result as? [String: Any])
            #expect(found[kSecAttrAccessible as String] as? String == kSecAttrAccessibleAfterFirstUnlock as String)
            #expect(found[kSecAttrIsInvisible as String] as? Bool == true)
        }
    }

    @Test func mutableDictionaries() throws {
        try onFreshVault {
            let query = NSMutableDictionary()
            query.setObject(kSecClassGenericPassword, forKey: kSecClass)
            query.setValue("a", forKey: kSecAttrAccount as String)
            query[kSecAttrService] = "s"
            query[kSecValueData as String] = Data([7])
            #expect(SecItemAdd(query, nil) == errSecSuccess)
            query.removeObject(forKey: kSecValueData)
            query[kSecReturnData] = NSNumber(value: true)
            var result: AnyObject?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            #expect(result as? NSData == NSData(data: Data([7])))
            let changes = [kSecValueData as String: Data([8])] as CFMutableDictionaryLike
            query.removeObject(forKey: kSecReturnData)
            #expect(SecItemUpdate(query, changes as CFDictionary) == errSecSuccess)
        }
    }

    @Test(arguments: [0, 1, 2, 3])
    func spellingsOfTrue(_ spelling: Int) throws {
        let spellings: [Any] = [true, NSNumber(value: true), kCFBooleanTrue as Any, kCFBooleanTrue!]
        try onFreshVault {
            let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]
            var item = query
            item[kSecValueData] = Data([1])
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            var search = query
            search[kSecReturnData] = spellings[spelling]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(search as CFDictionary, &result) == errSecSuccess)
            #expect(result as? Data == Data([1]))
        }
    }

    @Test func errorsByPointer() {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenUnlocked, [.biometryAny, .biometryCurrentSet], &error)
        #expect(control == nil)
        guard let unmanaged = error else {
            Issue.record("no error")
            return
        }
        let failure = unmanaged.takeRetainedValue() as any Error
        #expect((failure as NSError).domain == NSOSStatusErrorDomain)
        #expect((failure as NSError).code == Int(errSecParam))
        #expect(CFErrorGetCode(failure as NSError) == Int(errSecParam))
        #expect((CFErrorCopyDescription(failure as NSError) as String?)?.isEmpty == false)
    }

    @Test func accountsAsData() throws {
        try onFreshVault {
            let account = Data("carol".utf8)
            let item =
                [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrGeneric: account,
                    kSecValueData: Data([1]),
                ] as [CFString: Any]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let query =
                [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "carol", kSecReturnAttributes: true]
                as [CFString: Any]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            #expect((result as? [String: Any])?[kSecAttrAccount as String] as? Data == account)
        }
    }

    @Test func referencesByForcedCast() throws {
        try onFreshVault {
            // SEC 2's encoding of a P-256 key: 04 ‖ X ‖ Y ‖ K, with the base point, whose private key is 1.
            let x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
            let y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
            let bytes = try #require(Data(hexadecimal: "04" + x + y + String(repeating: "0", count: 63) + "1"))
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
            ]
            var error: Unmanaged<CFError>?
            let key = try #require(SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, &error))
            let tag = "com.example.key".data(using: .utf8)!
            let item: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag,
                kSecValueRef as String: key,
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let query: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag,
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecReturnRef as String: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            let object = try #require(result)
            #expect(CFGetTypeID(object) == SecKeyGetTypeID())
            let found = object as! SecKey
            #expect(found == key)
            #expect(CFEqual(found, key))
            #expect(SecKeyCopyExternalRepresentation(found, &error) as Data? == bytes)
        }
    }

    /// Swift warns of no unused result of a C function, and warnings are errors here.
    @Test func resultsMayBeUnused() throws {
        try onFreshVault {
            let item = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "alice"] as CFDictionary
            SecItemAdd(item, nil)
            #expect(SecItemCopyMatching(item, nil) == errSecSuccess)
            SecItemDelete(item)
            #expect(SecItemCopyMatching(item, nil) == errSecItemNotFound)
            var trust: SecTrust?
            SecTrustCreateWithCertificates([SecCertificate]() as CFArray, nil, &trust)
            #expect(trust == nil)
        }
    }

    @Test func randomBytes() {
        var bytes = [UInt8](repeating: 0, count: 600)
        #expect(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes) == errSecSuccess)
        // 600 random bytes have every chunk of 32 different from zero, but for odds of 2^-250.
        for chunk in stride(from: 0, to: 576, by: 32) { #expect(bytes[chunk..<chunk + 32].contains { $0 != 0 }) }
        var data = Data(count: 16)
        let status = data.withUnsafeMutableBytes { SecRandomCopyBytes(nil, 16, $0.baseAddress!) }
        #expect(status == errSecSuccess)
        #expect(data != Data(count: 16))
    }
}

/// Swift code bridges literals to whichever of the dictionary names it knows.
private typealias CFMutableDictionaryLike = NSDictionary

extension Data {
    init?(hexadecimal: String) {
        guard let bytes = [UInt8](lowercaseHexadecimal: hexadecimal.utf8) else { return nil }
        self.init(bytes)
    }
}
