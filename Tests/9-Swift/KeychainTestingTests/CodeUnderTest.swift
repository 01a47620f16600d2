import Foundation
import KeychainServices

/// Code as it is found in programs: it calls SecItem itself and knows nothing of tests.
enum CodeUnderTest {
    static func add(
        _ password: String, account: String, accessible: CFString = kSecAttrAccessibleWhenUnlocked,
        group: String? = nil, control: SecAccessControl? = nil
    ) -> OSStatus {
        let query = NSMutableDictionary()
        query[kSecClass] = kSecClassGenericPassword
        query[kSecAttrAccount] = account
        query[kSecValueData] = Data(password.utf8)
        if let control { query[kSecAttrAccessControl] = control } else { query[kSecAttrAccessible] = accessible }
        if let group { query[kSecAttrAccessGroup] = group }
        return SecItemAdd(query, nil)
    }

    static func read(account: String, prompt: String? = nil) -> (status: OSStatus, password: String?) {
        let query = NSMutableDictionary()
        query[kSecClass] = kSecClassGenericPassword
        query[kSecAttrAccount] = account
        query[kSecReturnData] = true
        if let prompt { query[kSecUseOperationPrompt] = prompt }
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query, &item)
        return (status, (item as? Data).map { String(decoding: $0, as: UTF8.self) })
    }

    static func dates(account: String) -> (created: Date?, modified: Date?) {
        let query: NSDictionary = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecReturnAttributes: true,
        ]
        var item: CFTypeRef?
        guard SecItemCopyMatching(query, &item) == errSecSuccess, let found = item as? NSDictionary else {
            return (nil, nil)
        }
        return (found[kSecAttrCreationDate] as? Date, found[kSecAttrModificationDate] as? Date)
    }

    static func change(account: String, to password: String) -> OSStatus {
        let query: NSDictionary = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account]
        let changes: NSDictionary = [kSecValueData: Data(password.utf8)]
        return SecItemUpdate(query, changes)
    }

    static func deleteAll() -> OSStatus {
        let query: NSDictionary = [kSecClass: kSecClassGenericPassword]
        return SecItemDelete(query)
    }

    /// Fails for flags that contradict each other; those of the tests do not.
    static func control(
        _ flags: SecAccessControlCreateFlags, _ protection: CFString = kSecAttrAccessibleWhenUnlocked
    ) -> SecAccessControl? {
        SecAccessControlCreateWithFlags(nil, protection, flags, nil)
    }
}
