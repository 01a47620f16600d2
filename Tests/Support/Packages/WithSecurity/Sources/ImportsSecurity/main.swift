import CommonCrypto
import Foundation
import Security
import Tokens

func store(_ password: String, for account: String) -> OSStatus {
    let item: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword,
        kSecAttrService: "com.example.mail",
        kSecAttrAccount: account,
        kSecValueData: Data(password.utf8),
    ]
    return SecItemAdd(item as CFDictionary, nil)
}

func password(for account: String) -> String? {
    let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword,
        kSecAttrService: "com.example.mail",
        kSecAttrAccount: account,
        kSecReturnData: true,
    ]
    var found: CFTypeRef?
    guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data else {
        return nil
    }
    return String(data: data, encoding: .utf8)
}

// A run of this program that was interrupted may have left the item.
let deleted = SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary)
precondition(deleted == errSecSuccess || deleted == errSecItemNotFound, "SecItemDelete: \(deleted)")
let stored = store("correct horse", for: "alice")
precondition(stored == errSecSuccess, "SecItemAdd: \(stored)")
precondition(password(for: "alice") == "correct horse", "SecItemCopyMatching found something else")

let der = try issueCertificate()
guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else {
    preconditionFailure("SecCertificateCreateWithData refused a certificate of X509")
}
precondition(SecCertificateCopyData(certificate) as Data == der, "SecCertificateCopyData gave other bytes")

// A C module is in sight of those who depend on it, and of nobody else.
precondition(!libraryCanImportCommonCrypto, "the library sees CommonCrypto, on which it does not depend")
var digest = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
_ = der.withUnsafeBytes { CC_SHA256($0.baseAddress, CC_LONG($0.count), &digest) }
precondition(digest == sha256(der), "CC_SHA256 gave another digest")

print("subject \(try await exerciseTokens()), certificate of \(der.count) bytes, one password stored and found")
