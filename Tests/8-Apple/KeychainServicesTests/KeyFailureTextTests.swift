import Foundation
import Security
import Testing

/// The errors of keys have Apple's domain, codes and texts (SecKey.m, SecKeyAdaptors.m and SecECKey.m; Apple,
/// Security-61901). Programs compare them.
@Suite struct KeyFailureTextTests {
    private let rsa: SecKey
    private let otherRSA: SecKey
    private let curve: SecKey

    init() throws {
        func make(_ type: CFString, _ size: Int) throws -> SecKey {
            let attributes = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: size] as CFDictionary
            return try #require(SecKeyCreateRandomKey(attributes, nil))
        }
        (rsa, otherRSA) = try (make(kSecAttrKeyTypeRSA, 2048), make(kSecAttrKeyTypeRSA, 2048))
        curve = try make(kSecAttrKeyTypeECSECPrimeRandom, 256)
    }

    private func expect(
        _ code: OSStatus, _ text: String, _ operation: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        var error: Unmanaged<CFError>?
        #expect(!operation(&error), sourceLocation: location)
        let found = try #require(error?.takeRetainedValue(), sourceLocation: location)
        #expect(CFErrorGetDomain(found) == kCFErrorDomainOSStatus, sourceLocation: location)
        #expect(CFErrorGetCode(found) == Int(code), sourceLocation: location)
        let whole = "The operation couldn’t be completed. (OSStatus error \(code) - \(text))"
        #expect(CFErrorCopyDescription(found) as String == whole, sourceLocation: location)
        #expect((found as any Error).localizedDescription == whole, sourceLocation: location)
        let facts = CFErrorCopyUserInfo(found) as? [String: Any]
        #expect(facts?[kCFErrorDescriptionKey as String] as? String == text, sourceLocation: location)
        // What this package says of it.
        #expect(CFErrorCopyFailureReason(found) != nil, sourceLocation: location)
    }

    @Test(arguments: [
        SecKeyAlgorithm.rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA256, .rsaEncryptionOAEPSHA512,
    ]) func whatWasEncryptedForAnotherKey(_ algorithm: SecKeyAlgorithm) throws {
        let other = try #require(SecKeyCopyPublicKey(otherRSA))
        let sealed = try #require(SecKeyCreateEncryptedData(other, algorithm, Data("text".utf8) as CFData, nil))
        try expect(errSecParam, "RSAdecrypt wrong input (err -27)") {
            SecKeyCreateDecryptedData(rsa, algorithm, sealed, $0) != nil
        }
    }

    @Test func algorithmsOfOtherKeys() throws {
        let data = Data(repeating: 1, count: 32) as CFData
        func text(_ algorithm: SecKeyAlgorithm, _ key: SecKey) -> String {
            "\(algorithm.rawValue): algorithm not supported by the key \(key.debugDescription)"
        }
        try expect(errSecParam, text(.ecdsaSignatureDigestX962SHA256, rsa)) {
            SecKeyCreateSignature(rsa, .ecdsaSignatureDigestX962SHA256, data, $0) != nil
        }
        try expect(errSecParam, text(.rsaEncryptionPKCS1, curve)) {
            SecKeyCreateDecryptedData(curve, .rsaEncryptionPKCS1, data, $0) != nil
        }
        try expect(errSecParam, text(.ecdhKeyExchangeStandard, rsa)) {
            SecKeyCopyKeyExchangeResult(rsa, .ecdhKeyExchangeStandard, curve, [:] as CFDictionary, $0) != nil
        }
        let half = try #require(SecKeyCopyPublicKey(curve))
        try expect(errSecParam, text(.rsaEncryptionRaw, half)) {
            SecKeyCreateEncryptedData(half, .rsaEncryptionRaw, data, $0) != nil
        }
    }

    @Test func digestsOfAnotherLength() throws {
        let short = Data(repeating: 1, count: 31) as CFData
        try expect(errSecParam, "bad digest size for signing with algorithm algid:sign:ECDSA:digest-X962:SHA256") {
            SecKeyCreateSignature(curve, .ecdsaSignatureDigestX962SHA256, short, $0) != nil
        }
        try expect(errSecParam, "RSAsign wrong input data length") {
            SecKeyCreateSignature(rsa, .rsaSignatureDigestPKCS1v15SHA256, short, $0) != nil
        }
        try expect(errSecParam, "RSASSA-PSS incompatible algorithm for key size") {
            SecKeyCreateSignature(rsa, .rsaSignatureDigestPSSSHA256, short, $0) != nil
        }
    }

    @Test func signaturesOfOthers() throws {
        let data = Data("text".utf8) as CFData
        for (key, algorithm, name) in [
            (rsa, SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256, "RSA"),
            (curve, .ecdsaSignatureMessageX962SHA256, "EC"),
        ] {
            let signature = try #require(SecKeyCreateSignature(key, algorithm, Data("another".utf8) as CFData, nil))
            let half = try #require(SecKeyCopyPublicKey(key))
            try expect(errSecVerifyFailed, "\(name) signature verification failed, no match") {
                SecKeyVerifySignature(half, algorithm, data, signature, $0)
            }
        }
    }

    @Test func dataThatIsNoKey() throws {
        for (type, keyClass, text) in [
            (kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic, "RSA public"),
            (kSecAttrKeyTypeRSA, kSecAttrKeyClassPrivate, "RSA private"),
            (kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPublic, "EC public"),
            (kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPrivate, "EC private"),
        ] {
            let attributes = [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass] as CFDictionary
            try expect(errSecParam, "\(text) key creation from data failed") {
                SecKeyCreateWithData(Data([1, 2, 3]) as CFData, attributes, $0) != nil
            }
        }
    }
}
