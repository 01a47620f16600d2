import Foundation
import KeychainServices
import Tokens

#if canImport(Security)
#error("a module named Security is in sight of a program that asked for KeychainServices only")
#endif
#if canImport(LocalAuthentication)
#error("a module named LocalAuthentication is in sight of a program that asked for KeychainServices only")
#endif
precondition(!libraryCanImportSecurity)

let item: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword,
    kSecAttrService: "com.example.mail",
    kSecAttrAccount: "alice",
]
let secret: [CFString: Any] = [kSecValueData: Data("correct horse".utf8)]
let deleted = SecItemDelete(item as CFDictionary)
precondition(deleted == errSecSuccess || deleted == errSecItemNotFound, "SecItemDelete: \(deleted)")
let stored = SecItemAdd(item.merging(secret) { $1 } as CFDictionary, nil)
precondition(stored == errSecSuccess, "SecItemAdd: \(stored)")

print(
    "subject \(try await exerciseTokens()), certificate of \(try issueCertificate().count) bytes, one password stored")
