// Token.swift
import Foundation
import Security

/// A token in the keychain, the same on Linux and on Apple's systems.
struct Token {
    let service: String

    private var item: [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: "token"]
    }

    /// The token; nil if there is none.
    func read() throws -> Data? {
        let query = item.merging([kSecReturnData: true]) { $1 }
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw Failure(status: status) }
        return found as? Data
    }

    /// Stores the token, in place of the one that is there.
    func write(_ data: Data) throws {
        let value: [CFString: Any] = [kSecValueData: data]
        var status = SecItemUpdate(item as CFDictionary, value as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item.merging(value) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    struct Failure: Error {
        let status: OSStatus
    }
}
