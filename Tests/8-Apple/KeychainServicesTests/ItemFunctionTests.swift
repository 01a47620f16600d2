import Foundation
import KeychainServices
import TestSupport
import Testing

/// The four functions on a real vault.
@Suite struct ItemFunctionTests {
    @Test func aReturnedDictionaryIsAQueryForItsItem() throws {
        try onFreshVault {
            for (account, protection) in [
                ("a", kSecAttrAccessibleAfterFirstUnlock), ("b", kSecAttrAccessibleWhenUnlocked),
            ] {
                #expect(
                    add(
                        password([
                            kSecAttrAccount: account, kSecAttrAccessible: protection, kSecAttrLabel: "l",
                            kSecAttrIsInvisible: true, kSecAttrCreator: 42, kSecValueData: secret,
                        ])) == errSecSuccess)
            }
            let found = copy(password([kSecAttrAccount: "b", kSecReturnAttributes: true]))
            let attributes = try #require(found.result as? [NSString: Any])
            var query = attributes
            query[kSecReturnData] = true
            #expect(copy(password(query)).result as? Data == secret)
            #expect(SecItemDelete(password(attributes)) == errSecSuccess)
            #expect(SecItemDelete(password(attributes)) == errSecItemNotFound)
            #expect(add(password(attributes)) == errSecSuccess)
            let again = copy(password([kSecAttrAccount: "b", kSecReturnAttributes: true, kSecReturnData: true]))
            let readded = try #require(again.result as? [NSString: Any])
            #expect(readded[kSecValueData] == nil && readded[kSecAttrLabel] as? String == "l")
            #expect(readded[kSecAttrAccessible] as? String == "ak")
        }
    }

    /// There is no evaluation of trust, so what would have to be evaluated is not returned.
    @Test(arguments: ["m_TrustedOnly", "m_Policy"]) func untrustedCertificatesAreNotReturned(_ key: String) throws {
        try onFreshVault {
            let certificate: [NSString: Any] = [kSecClass: kSecClassCertificate]
            let trusted = certificate.merging([key as NSString: true]) { $1 } as NSDictionary
            #expect(copy(trusted).status == errSecItemNotFound)
            #expect(add(certificate.merging([kSecValueData: secret]) { $1 } as NSDictionary) == errSecSuccess)
            #expect(copy(trusted).status == errSecUnimplemented)
            #expect(copy(certificate as NSDictionary).status == errSecSuccess)
        }
    }

    @Test func addReturnsWhatItStored() throws {
        try onFreshVault {
            var result: AnyObject?
            let item = password([kSecAttrAccount: "a", kSecValueData: secret, kSecReturnPersistentRef: true])
            #expect(SecItemAdd(item, &result) == errSecSuccess)
            let reference = try #require(result as? Data)
            let query: NSDictionary = [kSecValuePersistentRef: reference, kSecReturnData: true]
            #expect(copy(query).result as? Data == secret)
            #expect(SecItemUpdate([kSecValuePersistentRef: reference], [kSecAttrAccount: "b"]) == errSecSuccess)
            #expect(copy(query).result as? Data == secret)
            #expect(SecItemDelete([kSecValuePersistentRef: reference]) == errSecSuccess)
            #expect(copy(query).status == errSecItemNotFound)
            let legacy = Data("genp".utf8) + Data(count: 8)
            #expect(copy([kSecValuePersistentRef: legacy]).status == errSecItemNotFound)
        }
    }

    @Test func aFailureLeavesTheResultAlone() throws {
        try onFreshVault {
            let mark = NSObject()
            var result: AnyObject? = mark
            #expect(SecItemCopyMatching(password([kSecReturnData: true]), &result) == errSecItemNotFound)
            #expect(result === mark)
            #expect(SecItemAdd(password([kSecValueData: secret]), &result) == errSecSuccess)
            #expect(result === mark)
            #expect(SecItemCopyMatching(password(), &result) == errSecSuccess)
            #expect(result === mark)
        }
    }

    @Test func updateChangesAllOrNothing() throws {
        try onFreshVault {
            for account in ["a", "b"] {
                #expect(add(password([kSecAttrAccount: account, kSecAttrService: "s"])) == errSecSuccess)
            }
            #expect(
                SecItemUpdate(password([kSecAttrService: "s"]), [kSecAttrAccount: "c"]) == errSecDuplicateItem)
            #expect(copy(password([kSecAttrAccount: "c"])).status == errSecItemNotFound)
            #expect(SecItemUpdate(password([kSecAttrService: "s"]), [kSecAttrComment: "x"]) == errSecSuccess)
            let changed = copy(
                password([kSecAttrComment: "x", kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]))
            #expect((changed.result as? NSArray)?.count == 2)
            #expect(SecItemUpdate(password([kSecAttrService: "none"]), [kSecAttrComment: "x"]) == errSecItemNotFound)
            #expect(SecItemUpdate(password([kSecAttrService: "s"]), [:]) == errSecSuccess)
        }
    }

    @Test func deletionTakesALimitOfAllOnly() throws {
        try onFreshVault {
            for account in ["a", "b"] { #expect(add(password([kSecAttrAccount: account])) == errSecSuccess) }
            #expect(SecItemDelete(password([kSecMatchLimit: kSecMatchLimitOne])) == errSecParam)
            #expect(SecItemDelete(password([kSecMatchLimit: 2])) == errSecParam)
            #expect(SecItemDelete(password([kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
            #expect(copy(password()).status == errSecItemNotFound)
        }
    }

    @Test func synchronizableItemsAreApart() throws {
        try onFreshVault {
            #expect(add(password([kSecAttrAccount: "a", kSecAttrSynchronizable: true])) == errSecSuccess)
            #expect(copy(password([kSecAttrAccount: "a"])).status == errSecItemNotFound)
            #expect(add(password([kSecAttrAccount: "a"])) == errSecSuccess)
            #expect(copy(password([kSecAttrAccount: "a", kSecAttrSynchronizable: "1"])).status == errSecSuccess)
            let both = password([
                kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecReturnAttributes: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ])
            #expect((copy(both).result as? NSArray)?.count == 2)
            #expect(
                SecItemDelete(password([kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == errSecSuccess)
            #expect(copy(both).status == errSecItemNotFound)
            let tombstone = password([kSecAttrTombstone: 1, kSecAttrSynchronizable: true, kSecReturnAttributes: true])
            #expect((copy(tombstone).result as? NSDictionary)?[kSecAttrTombstone] as? Int == 1)
        }
    }

    @Test func groupsAreCheckedInApplesOrder() throws {
        let fixture = try VaultFixture()
        fixture.run {
            // Update and delete look at the group before they parse, add and copy after.
            let number = password([kSecAttrAccessGroup: 5])
            #expect(SecItemDelete(number) == errSecMissingEntitlement)
            #expect(SecItemUpdate(number, [kSecValueData: secret]) == errSecMissingEntitlement)
            #expect(copy(number).status == errSecParam)
            #expect(add(number) == errSecParam)
            let foreign = password([kSecAttrAccessGroup: "OTHER", kSecReturnData: 1])
            #expect(SecItemDelete(foreign) == errSecMissingEntitlement)
            #expect(copy(foreign).status == errSecParam)
            let unmet = password([kSecAttrAccessGroup: "OTHER", kSecMatchHostOrSubdomainOfHost: "h"])
            #expect(copy(unmet).status == errSecMissingEntitlement)
            #expect(SecItemUpdate(password(), [kSecAttrAccessGroup: "OTHER"]) == errSecMissingEntitlement)
        }
        fixture.seen(by: []).run {
            #expect(copy(password([kSecReturnData: 1])).status == errSecMissingEntitlement)
            #expect(add(password()) == errSecMissingEntitlement)
            #expect(SecItemDelete(password()) == errSecMissingEntitlement)
        }
    }

    @Test func datesAndHashesOfACallerAreNotStored() throws {
        try onFreshVault {
            let past = Date(timeIntervalSinceReferenceDate: 0)
            var result: AnyObject?
            let item = password([
                kSecAttrAccount: "a", kSecAttrCreationDate: past, kSecAttrModificationDate: past,
                kSecAttrSHA1: Data(count: 20), kSecReturnAttributes: true,
            ])
            #expect(SecItemAdd(item, &result) == errSecSuccess)
            let stored = try #require(result as? [NSString: Any])
            #expect(try #require(stored[kSecAttrCreationDate] as? Date) > past)
            #expect(stored[kSecAttrSHA1] as? Data != Data(count: 20))
            #expect(SecItemUpdate(password(), [kSecAttrCreationDate: past]) == errSecSuccess)
            let attributes = copy(password([kSecAttrCreationDate: past, kSecReturnAttributes: true])).result
            #expect((attributes as? [NSString: Any])?[kSecAttrCreationDate] as? Date == past)
        }
    }

    @Test func keysAndTheirNumbers() throws {
        try onFreshVault {
            let item: NSDictionary = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: "tag", kSecAttrKeyType: kSecAttrKeyTypeRSA,
                kSecValueData: secret,
            ]
            #expect(add(item) == errSecSuccess)
            let query: NSDictionary = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("tag".utf8), kSecAttrKeyType: 42,
                kSecReturnAttributes: true,
            ]
            let found = copy(query).result as? [NSString: Any]
            #expect(found?[kSecAttrKeyType] as? Int == 42)
            #expect(found?[kSecAttrApplicationTag] as? String == "tag")
        }
    }
}
