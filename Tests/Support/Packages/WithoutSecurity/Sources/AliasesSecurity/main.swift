import Foundation
import Tokens

#if !canImport(Security)
#error("the alias hides the module from the program that depends on it")
#endif
precondition(!libraryCanImportSecurity)

let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.nobody"]
var found: CFTypeRef?
let status = SecItemCopyMatching(query as CFDictionary, &found)
precondition(status == errSecItemNotFound, "SecItemCopyMatching: \(status)")

print("subject \(try await exerciseTokens()), certificate of \(try issueCertificate().count) bytes, no password found")
