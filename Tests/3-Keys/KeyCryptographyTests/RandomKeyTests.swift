import Access
import Foundation
import ProcessVault
import TestSupport
import Testing
import VaultInterface

@testable import KeychainServices

@Suite("Keys made at random")
struct RandomKeyTests {
    private func onVault<Result>(
        _ client: Client = .app, _ body: () throws -> Result
    ) throws -> Result {
        try VaultSession.$override.withValue(
            SessionUnderTest(session: VaultSession(vault: try memoryVault(), client: client))
        ) { try body() }
    }

    private func items(_ query: [NSString: Any] = [:]) throws -> [[String: Any]] {
        let dictionary = query.merging([
            kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnRef: true,
        ]) { given, _ in given }
        var result: CFTypeRef?
        let status = SecItemCopyMatching(dictionary as NSDictionary, &result)
        if status == errSecItemNotFound { return [] }
        #expect(status == errSecSuccess)
        return try #require(result as? [[String: Any]])
    }

    private let p256: [NSString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
    ]

    @Test(arguments: [192, 224, 256, 384, 521]) func curves(bits: Int) throws {
        try onVault {
            let key = try SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits)
            #expect(try key.external().count == 3 * ((bits + 7) / 8) + 1)
            #expect(SecKeyGetBlockSize(key) == (bits + 7) / 8)
            #expect(try SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits) != key)
            #expect(try items().isEmpty)
        }
    }

    @Test(arguments: [512, 513, 1024, 1031, 1536, 2047, 2048, 2050]) func rsa(bits: Int) throws {
        let key = try SecKey.random(kSecAttrKeyTypeRSA, bits)
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == bits)
        // The public exponent is 65537.
        let exponent = try KeyPair(key).public.external().suffix(5)
        #expect(exponent == Data([0x02, 0x03, 0x01, 0x00, 0x01]))
    }

    @Test func ed25519() throws {
        let key = try SecKey.random("105", 256)
        #expect(try key.external().count == 32 && KeyPair(key).public.external().count == 32)
        let name = SecKeyAlgorithm("algid:sign:EdDSA:message-Curve25519:SHA512")
        let signature = try key.sign(Data("message".utf8), name)
        #expect(try KeyPair(key).public.verify(signature, of: Data("message".utf8), name))
        #expect(SecKeyGetBlockSize(key) == 32)
        #expect(throws: KeyFailure(status: errSecParam)) { try SecKey.random("105", 255) }
    }

    @Test func refusals() throws {
        let refused: [[NSString: Any]] = [
            [:], [kSecAttrKeyType: kSecAttrKeyTypeRSA], [kSecAttrKeySizeInBits: 256],
            [kSecAttrKeyType: 73, kSecAttrKeySizeInBits: 256], [kSecAttrKeyType: "073", kSecAttrKeySizeInBits: 256],
            [kSecAttrKeyType: "107", kSecAttrKeySizeInBits: 256], [kSecAttrKeyType: "x", kSecAttrKeySizeInBits: 256],
            [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: true],
            [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: Data()],
            p256.merging([kSecPrivateKeyAttrs: "x"]) { $1 }, p256.merging([kSecPublicKeyAttrs: [1: 2]]) { $1 },
            p256.merging([kSecAttrTokenID: "com.example.token"]) { $1 },
        ]
        for parameters in refused {
            #expect(throws: KeyFailure(status: errSecParam), "\(parameters)") { try SecKey.random(parameters) }
        }
        for bits in [-256, 0, 1, 255, 257, 320, 512, 1024, Int.max] {
            #expect(throws: KeyFailure(status: errSecParam)) {
                try SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits)
            }
        }
        // libcrypto rounds odd sizes from 2048 bits on.
        for bits in [-1, 0, 256, 511, 2049, 8193, 16384, Int.max] {
            #expect(throws: KeyFailure(status: errSecParam)) { try SecKey.random(kSecAttrKeyTypeRSA, bits) }
        }
    }

    @Test func sizesMayBeStrings() throws {
        #expect(
            try SecKey.random([kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: "256"]).external().count == 97
        )
    }

    @Test func enclavesKeepOneKindOfKey() throws {
        for (type, bits) in [(kSecAttrKeyTypeEC, 384), (kSecAttrKeyTypeRSA, 2048)] {
            #expect(throws: KeyFailure(status: errSecParam)) {
                try SecKey.random([
                    kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                ])
            }
        }
    }

    @Test func permanentPairsAreStored() throws {
        try onVault {
            let key = try SecKey.random(
                p256.merging([
                    kSecAttrIsPermanent: true, kSecAttrLabel: "label", kSecAttrApplicationTag: Data("tag".utf8),
                ]) { $1 })
            let stored = try items([kSecAttrApplicationTag: Data("tag".utf8), kSecAttrLabel: "label"])
            #expect(stored.count == 2)
            let references = stored.compactMap { $0[kSecValueRef as String] as? SecKey }
            #expect(Set(references) == [key, key.publicKey])
            for size in [256, 384] {
                #expect(try items([kSecAttrKeySizeInBits: size]).count == (size == 256 ? 2 : 0))
            }
            // The stored key does what the other one does.
            let found = try items([kSecAttrKeyClass: kSecAttrKeyClassPrivate]).compactMap {
                $0[kSecValueRef as String] as? SecKey
            }
            let signature = try #require(found.first).sign(Data("m".utf8), .ecdsaSignatureMessageX962SHA256)
            #expect(try key.publicKey.verify(signature, of: Data("m".utf8), .ecdsaSignatureMessageX962SHA256))
            #expect(SecItemDelete([kSecValueRef: key] as NSDictionary) == errSecSuccess)
            #expect(try items().count == 1)
        }
    }

    @Test func halvesHaveAttributesOfTheirOwn() throws {
        try onVault {
            _ = try SecKey.random(
                p256.merging([
                    kSecAttrLabel: "both", kSecAttrIsPermanent: true,
                    kSecPrivateKeyAttrs: [kSecAttrLabel: "private", kSecAttrKeySizeInBits: 384] as NSDictionary,
                    kSecPublicKeyAttrs: [kSecAttrIsPermanent: false] as NSDictionary,
                ]) { $1 })
            let stored = try items()
            #expect(stored.count == 1)
            #expect(stored.first?[kSecAttrLabel as String] as? String == "private")
            #expect(stored.first?[kSecAttrKeySizeInBits as String] as? Int == 256)
            #expect(stored.first?[kSecAttrKeyClass as String] as? Int == 1)
        }
    }

    /// Only the Boolean counts.
    @Test(arguments: ["1", 1, Data([1]), NSNull(), false] as [any Sendable])
    func otherValuesOfPermanent(value: any Sendable) throws {
        try onVault {
            _ = try SecKey.random(p256.merging([kSecAttrIsPermanent: value]) { $1 })
            #expect(try items().isEmpty)
        }
    }

    @Test func failuresOfTheKeychain() throws {
        let permanent = p256.merging([kSecAttrIsPermanent: true]) { $1 }
        try onVault { () throws in
            #expect(throws: KeyFailure(status: errSecMissingEntitlement)) {
                try SecKey.random(permanent.merging([kSecAttrAccessGroup: "OTHER.group"]) { $1 })
            }
            #expect(throws: KeyFailure(status: errSecNoSuchAttr)) {
                try SecKey.random(permanent.merging([kSecAttrAccount: "account"]) { $1 })
            }
            #expect(try items().isEmpty)
            // The public half is stored first and stays.
            #expect(throws: KeyFailure(status: errSecNoSuchAttr)) {
                try SecKey.random(
                    permanent.merging([kSecPrivateKeyAttrs: [kSecAttrAccount: "account"] as NSDictionary]) { $1 })
            }
            #expect(try items().count == 1)
        }
    }

    @Test func olderForm() throws {
        try onVault {
            var halves: (public: SecKey?, private: SecKey?)
            #expect(SecKeyGeneratePair(p256 as NSDictionary, &halves.public, &halves.private) == errSecSuccess)
            let made = try #require(halves.private)
            #expect(SecKeyCopyPublicKey(made) == halves.public)
            #expect(SecKeyGeneratePair([:], nil, nil) == errSecParam)
        }
    }
}

struct SessionUnderTest: VaultSessionProvider {
    let session: VaultSession
}
