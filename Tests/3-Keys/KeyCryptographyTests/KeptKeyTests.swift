import Access
import Bytes
import Certificates
import Foundation
import KeyCryptography
import KeychainModel
import ProcessVault
import Synchronization
import TestSupport
import Testing
import VaultInterface
import VaultKeys

@testable import KeychainServices

/// A key whose private half another part keeps, as an enclave does: it has two operations, and the rest follows.
@Suite("Keys that are kept elsewhere")
struct KeptKeyTests {
    /// Keeps a key, counts what is asked of it, and refuses if it is told to.
    private final class Keeper: CurvePrivateKey {
        let curve = EllipticCurve.p256
        private let key: any CurvePrivateKey
        private let state = Mutex((count: 0, refusal: VaultError?.none))

        init(_ key: any CurvePrivateKey) {
            self.key = key
        }

        var count: Int { state.withLock { $0.count } }
        func refuse(_ error: VaultError?) { state.withLock { $0.refusal = error } }

        private func enter() throws(KeyError) {
            let refusal = state.withLock { state in
                state.count += 1
                return state.refusal
            }
            if let refusal { throw .refused(refusal) }
        }

        func signature(ofDigest digest: Data) throws(KeyError) -> Data {
            try enter()
            return try key.signature(ofDigest: digest)
        }

        func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes {
            try enter()
            return try key.sharedSecret(with: point)
        }
    }

    private let keeper: Keeper
    private let key: SecKey
    private let stored = Data("what only the keeper understands".utf8)

    init() throws {
        let data = try SoftwareKeys.randomKey(type: .ellipticCurve, sizeInBits: 256)
        let operations = try SoftwareKeys.privateOperations(of: data)
        keeper = Keeper(try #require(operations as? any CurvePrivateKey))
        key = SecKey(
            VaultKey(
                publicKey: data,
                kept: KeptKey(tokenID: "com.apple.setoken", operations: keeper, storedValue: stored)))
    }

    @Test func neverLeaves() throws {
        #expect(throws: KeyFailure(status: errSecUnimplemented)) { try key.external() }
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes[kSecValueData as String] == nil)
        #expect(attributes[kSecAttrTokenID as String] as? String == "com.apple.setoken")
        #expect(attributes[kSecAttrKeyClass as String] as? String == "1")
        #expect(attributes[kSecAttrIsExtractable as String] as? Bool == false)
        #expect(attributes[kSecAttrCanSign as String] as? Bool == true)
        #expect(key.publicKey.kept == nil)
        #expect(key.publicKey != key)
        #expect(try key.publicKey.external().count == 65)
        #expect(keeper.count == 0)
    }

    @Test func everyOperationGoesToTheKeeper() throws {
        var expected = 0
        for name in Algorithms.ecdsa {
            let input = Data(count: Algorithms.digestLength(name) ?? 20)
            let signature = try key.sign(input, SecKeyAlgorithm(name))
            #expect(try key.publicKey.verify(signature, of: input, SecKeyAlgorithm(name)))
            expected += 1
        }
        for name in Algorithms.ecies {
            let cryptogram = try key.publicKey.encrypt(stored, SecKeyAlgorithm(name))
            #expect(try key.decrypt(cryptogram, SecKeyAlgorithm(name)) == stored)
            expected += 1
        }
        let peer = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, 256))
        #expect(
            try key.exchange(with: peer.public, .ecdhKeyExchangeStandard)
                == peer.private.exchange(with: key.publicKey, .ecdhKeyExchangeStandard))
        expected += 1
        #expect(keeper.count == expected)
    }

    @Test func refusalsOfTheKeeper() throws {
        let refusals: [(VaultError, OSStatus)] = [
            (.interactionNotAllowed(reason: "locked"), errSecInteractionNotAllowed),
            (.userCanceled, errSecUserCanceled),
            (.authenticationFailed, errSecAuthFailed),
        ]
        for (error, status) in refusals {
            keeper.refuse(error)
            #expect(throws: KeyFailure(status: status)) { try key.sign(stored, .ecdsaSignatureMessageX962SHA256) }
            let cryptogram = try key.publicKey.encrypt(stored, .eciesEncryptionStandardX963SHA256AESGCM)
            #expect(throws: KeyFailure(status: status)) {
                try key.decrypt(cryptogram, .eciesEncryptionStandardX963SHA256AESGCM)
            }
            #expect(throws: KeyFailure(status: status)) {
                try key.exchange(with: key.publicKey, .ecdhKeyExchangeStandard)
            }
        }
    }

    @Test func storesWhatTheKeeperUnderstands() throws {
        let session = VaultSession(vault: try memoryVault(), client: .app)
        VaultSession.$override.withValue(SessionUnderTest(session: session)) {
            #expect(SecItemAdd([kSecValueRef: key] as NSDictionary, nil) == errSecSuccess)
            var result: CFTypeRef?
            let query: NSDictionary = [
                kSecClass: kSecClassKey, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecReturnData: true,
            ]
            #expect(SecItemCopyMatching(query, &result) == errSecSuccess)
            #expect(result as? Data == stored)
            #expect(SecItemDelete([kSecValueRef: key] as NSDictionary) == errSecSuccess)
        }
    }
}
