import Foundation
import GRDB
import KeychainServices

/// The enclave key that messages are encrypted for. Anybody with its public half can write messages. Only this machine
/// can read them.
enum MessageKey {
    private static let tag = Data("\(PersonalVault.identifier).messages".utf8)
    private static let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

    private static func stored() throws -> SecKey? {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecReturnRef: true,
        ]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw DemoError("no key: \(status)") }
        return found as? SecKey
    }

    private static func make() throws -> SecKey {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: [
                kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag,
                kSecAttrAccessGroup: PersonalVault.identifier,
                kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            ] as [CFString: Any],
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else { throw DemoError(error) }
        return key
    }

    static func encrypt(_ text: String) throws -> Data {
        let key = try stored() ?? make()
        var error: Unmanaged<CFError>?
        guard let publicKey = SecKeyCopyPublicKey(key),
            let sealed = SecKeyCreateEncryptedData(publicKey, algorithm, Data(text.utf8) as CFData, &error)
        else { throw DemoError(error) }
        return sealed as Data
    }

    static func decrypt(_ sealed: Data) throws -> String {
        guard let key = try stored() else { throw DemoError("the key of the messages is gone") }
        var error: Unmanaged<CFError>?
        guard let text = SecKeyCreateDecryptedData(key, algorithm, sealed as CFData, &error) else {
            throw DemoError(error)
        }
        return String(decoding: text as Data, as: UTF8.self)
    }

    static func remove() throws {
        let status = SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: tag] as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw DemoError("the key of the messages cannot be removed: \(status)")
        }
    }
}

extension PersonalVault {
    func add(message text: String) throws {
        let sealed = try MessageKey.encrypt(text)
        try store.write { db in try db.execute(sql: "INSERT INTO message (sealed) VALUES (?)", arguments: [sealed]) }
    }

    func sealedMessages() throws -> [Data] {
        try store.read { db in try Data.fetchAll(db, sql: "SELECT sealed FROM message ORDER BY id") }
    }
}
