import Foundation
import KeychainServices
import KeychainTLS
import KeychainX509

/// What this program keeps in the keychain: private keys, found by tag, and certificates, found by label.
enum Vault {
    private static func label(_ name: String) -> String { "mutual TLS: \(name)" }

    /// The key with this name; it is made and stored if there is none.
    static func key(named name: String, in keeper: KeychainPrivateKey.Keeper) throws -> CertificateKey {
        try CertificateKey(.stored(tag: "com.example.mutual-tls.\(name)", label: label(name), in: keeper))
    }

    /// A key that is used and not stored.
    static func passingKey(type: CFString, sizeInBits: Int) throws -> SecKey {
        try randomKey([kSecAttrKeyType: type, kSecAttrKeySizeInBits: sizeInBits], named: "\(sizeInBits) bits")
    }

    /// A key of the enclave that is used and not stored.
    static func passingEnclaveKey() throws -> SecKey {
        try randomKey(
            [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            ], named: "the enclave")
    }

    private static func randomKey(_ parameters: [CFString: Any], named name: String) throws -> SecKey {
        var failure: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &failure) else {
            throw ExampleError(
                "cannot make the key of \(name): \(failure?.takeRetainedValue().localizedDescription ?? "no reason")")
        }
        return key
    }

    /// The DER form of the certificate with this name, if there is one and its key is in the keychain too.
    static func certificate(named name: String) throws -> [UInt8]? {
        let query: [CFString: Any] = [
            kSecClass: kSecClassIdentity, kSecAttrLabel: label(name), kSecReturnRef: true,
        ]
        guard let identity = try find(query, "find the certificate of \(name)") as? SecIdentity else { return nil }
        var certificate: SecCertificate?
        try check(SecIdentityCopyCertificate(identity, &certificate), "read the certificate of \(name)")
        return certificate.map { [UInt8](SecCertificateCopyData($0) as Data) }
    }

    /// Stores a certificate under this name, in the place of an older one.
    static func store(_ certificate: [UInt8], named name: String) throws {
        guard let reference = SecCertificateCreateWithData(nil, Data(certificate) as CFData) else {
            throw ExampleError("the keychain cannot read the certificate of \(name)")
        }
        let old: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecAttrLabel: label(name)]
        let status = SecItemDelete(old as CFDictionary)
        if status != errSecItemNotFound { try check(status, "delete the old certificate of \(name)") }
        let item: [CFString: Any] = [
            kSecValueRef: reference, kSecAttrLabel: label(name),
            kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        try check(SecItemAdd(item as CFDictionary, nil), "store the certificate of \(name)")
    }

    private static func find(_ query: [CFString: Any], _ what: String) throws -> CFTypeRef? {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        try check(status, what)
        return found
    }

    private static func check(_ status: OSStatus, _ what: String) throws {
        guard status != errSecSuccess else { return }
        throw ExampleError("cannot \(what): \(SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)")")
    }
}

/// Why the example did not go on.
struct ExampleError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
