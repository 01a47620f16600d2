import KeychainModel
import KeychainTesting
import LocalAuthentication
import StoredKeys
import TestSupport
import Testing

@testable import LocalAuthenticationServices

/// Rights that the keychain keeps.
@Suite struct PersistedRightTests {
    private let store = LARightStore.shared
    private let message = Data("message".utf8)
    private let signing = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    private let encryption = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

    @Test func theKeyIsUsedWhileTheRightIsAuthorized() async throws {
        let world = try TestKeychain()
        world.authentication = .succeedsOnce
        try await world.run {
            try await store.saveRight(LARight(), identifier: "server")
            let right = try await store.right(forIdentifier: "server")
            #expect(right.state == .unknown)
            try await right.checkCanAuthorize()
            #expect(await failure { try await right.key.sign(message, algorithm: signing) } == .notInteractive)
            #expect(world.prompts.isEmpty)
            try await right.authorize(localizedReason: "to sign in")
            #expect(right.state == .authorized)
            let signature = try await right.key.sign(message, algorithm: signing)
            try await right.key.publicKey.verify(message, signature: signature, algorithm: signing)
            let ciphertext = try await right.key.publicKey.encrypt(message, algorithm: encryption)
            #expect(try await right.key.decrypt(ciphertext, algorithm: encryption) == message)
            #expect(world.prompts == ["to sign in"])
            await right.deauthorize()
            #expect(await failure { try await right.key.sign(message, algorithm: signing) } == .notInteractive)
            #expect(
                await failure { try await right.key.decrypt(ciphertext, algorithm: encryption) } == .notInteractive)
            try await right.key.publicKey.verify(message, signature: signature, algorithm: signing)
        }
    }

    @Test func theKeyAgreesOnSecrets() async throws {
        let world = try TestKeychain()
        try await world.run {
            let algorithm = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
            let right = try await store.saveRight(LARight(), identifier: "a")
            let bytes = try await right.key.publicKey.bytes
            #expect(bytes.count == 65)
            try await right.authorize(localizedReason: "to agree")
            let attributes: NSDictionary = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            ]
            let peer = try #require(SecKeyCreateRandomKey(attributes, nil))
            let peerBytes = try #require(
                SecKeyCopyPublicKey(peer).flatMap { SecKeyCopyExternalRepresentation($0, nil) })
            let ours = try await right.key.exchangeKeys(
                publicKey: peerBytes as Data, algorithm: algorithm,
                parameters: [SecKeyKeyExchangeParameter.requestedSize: 32])
            let publicAttributes: NSDictionary = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
            ]
            let own = try #require(SecKeyCreateWithData(bytes as NSData, publicAttributes, nil))
            let parameters: NSDictionary = [SecKeyKeyExchangeParameter.requestedSize.rawValue: 32]
            #expect(SecKeyCopyKeyExchangeResult(peer, algorithm, own, parameters, nil) == ours as NSData)
            // A parameter is missing, or the other key is none.
            for (publicKey, parameters) in [(peerBytes as Data, [:]), (Data([4]), ["requestedSize": 32])] {
                let error = await #expect(throws: (any Error).self) {
                    try await right.key.exchangeKeys(
                        publicKey: publicKey, algorithm: algorithm, parameters: parameters)
                }
                #expect((error as NSError?)?.code == Int(errSecParam))
            }
            #expect(right.key.canSign(using: signing) && right.key.publicKey.canVerify(using: signing))
            #expect(right.key.canDecrypt(using: encryption) && right.key.publicKey.canEncrypt(using: encryption))
            #expect(right.key.canExchangeKeys(using: algorithm))
            #expect(!right.key.canSign(using: .rsaSignatureDigestPSSSHA256))
            let wrong = await #expect(throws: (any Error).self) {
                try await right.key.publicKey.verify(message, signature: Data(count: 70), algorithm: signing)
            }
            #expect((wrong as NSError?)?.code == Int(errSecVerifyFailed))
        }
    }

    @Test func theSecretIsReadWhileTheRightIsAuthorized() async throws {
        let world = try TestKeychain()
        world.authentication = .succeedsOnce
        try await world.run {
            let secret = Data("token".utf8)
            let saved = try await store.saveRight(
                LARight(requirement: .biometry), identifier: "token", secret: secret)
            #expect(await failure { try await saved.secret.rawData } == .notInteractive)
            try await saved.authorize(localizedReason: "why")
            #expect(try await saved.secret.rawData == secret)
            await saved.deauthorize()
            #expect(await failure { try await saved.secret.rawData } == .notInteractive)
            #expect(world.prompts == ["why"])
            let bare = try await store.saveRight(LARight(), identifier: "bare")
            #expect(await failure { try await bare.secret.rawData } == .resourceNotFound)
        }
    }

    @Test func aWrongPersonIsRefused() async throws {
        let world = try TestKeychain()
        try await world.run {
            let right = try await store.saveRight(LARight(), identifier: "a", secret: message)
            for (outcome, code) in [
                (TestAuthentication.authenticationFailed, LAError.Code.authenticationFailed),
                (.userCancel, .userCancel), (.notInteractive, .notInteractive), (.systemCancel, .systemCancel),
            ] {
                world.authentication = outcome
                #expect(await failure { try await right.authorize(localizedReason: "why") } == code)
                #expect(right.state == .notAuthorized)
                #expect(await failure { try await right.key.sign(message, algorithm: signing) } == .notInteractive)
                #expect(await failure { try await right.secret.rawData } == .notInteractive)
            }
        }
    }

    @Test func aKeyForThePresentFingersEndsWithAnotherFinger() async throws {
        let world = try TestKeychain()
        try await world.run {
            let requirement = LARight(requirement: .biometryCurrentSet)
            world.biometry = .notEnrolled
            #expect(
                await failure { try await store.saveRight(requirement, identifier: "a") } == .biometryNotEnrolled)
            world.biometry = .enrolled
            try await store.saveRight(requirement, identifier: "a", secret: message)
            world.changeBiometry()
            let right = try await store.right(forIdentifier: "a")
            #expect(await failure { try await right.checkCanAuthorize() } == .authenticationFailed)
            #expect(await failure { try await right.authorize(localizedReason: "why") } == .authenticationFailed)
            #expect(right.state == .notAuthorized)
            #expect(world.prompts.isEmpty)
        }
    }

    @Test func aRightSavedAgainReplacesTheFormerOne() async throws {
        let world = try TestKeychain()
        try await world.run {
            let first = try await store.saveRight(LARight(), identifier: "a", secret: Data("old".utf8))
            let second = try await store.saveRight(LARight(requirement: .biometry), identifier: "a", secret: message)
            let found = try await store.right(forIdentifier: "a")
            try await found.authorize(localizedReason: "why")
            #expect(try await found.secret.rawData == message)
            #expect(try await found.key.publicKey.bytes == second.key.publicKey.bytes)
            #expect(try await found.key.publicKey.bytes != first.key.publicKey.bytes)
            try await first.authorize(localizedReason: "why")
            #expect(await failure { try await first.secret.rawData } == .resourceNotFound)
            #expect(items() == [kSecClassKey as String: 1, kSecClassGenericPassword as String: 2])
        }
    }

    @Test func aRemovedRightIsGone() async throws {
        let world = try TestKeychain()
        try await world.run {
            let other: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecValueData: message,
            ]
            #expect(SecItemAdd(other as CFDictionary, nil) == errSecSuccess)
            let right = try await store.saveRight(LARight(), identifier: "a", secret: message)
            try await store.saveRight(LARight(), identifier: "b", secret: message)
            for identifier in ["c", "d"] { try await store.saveRight(LARight(), identifier: identifier) }
            try await store.removeRight(right)
            try await store.removeRight(forIdentifier: "b")
            for identifier in ["a", "b"] {
                #expect(await failure { try await store.right(forIdentifier: identifier) } == .resourceNotFound)
                #expect(await failure { try await store.removeRight(forIdentifier: identifier) } == .resourceNotFound)
            }
            try await right.authorize(localizedReason: "why")
            #expect(await failure { try await right.secret.rawData } == .resourceNotFound)
            #expect(items() == [kSecClassKey as String: 2, kSecClassGenericPassword as String: 3])
            try await store.removeAllRights()
            try await store.removeAllRights()
            #expect(await failure { try await store.right(forIdentifier: "c") } == .resourceNotFound)
            #expect(items() == [kSecClassGenericPassword as String: 1])
        }
    }

    @Test func aRightThatIsSavedWhileAllAreRemovedIsWhole() async throws {
        let world = try TestKeychain()
        try await world.run {
            for _ in 0..<10 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await store.saveRight(LARight(), identifier: "a", secret: message) }
                    group.addTask { try await store.removeAllRights() }
                    try await group.waitForAll()
                }
                do {
                    let right = try await store.right(forIdentifier: "a")
                    try await right.authorize(localizedReason: "why")
                    #expect(try await right.secret.rawData == message)
                } catch let error as LAError {
                    #expect(error.code == .resourceNotFound)
                }
            }
        }
    }

    @Test func anotherProgramHasRightsOfItsOwn() async throws {
        let world = try TestKeychain()
        try await world.run {
            try await store.saveRight(LARight(), identifier: "a")
            world.client = TestClient(name: "other", accessGroups: ["other", "test"])
            #expect(await failure { try await store.right(forIdentifier: "a") } == .resourceNotFound)
            try await store.saveRight(LARight(), identifier: "a")
            try await store.removeAllRights()
            world.client = TestClient()
            _ = try await store.right(forIdentifier: "a")
        }
    }

    @Test func aLockEndsTheUseOfAnAuthorizedRight() async throws {
        let world = try TestKeychain()
        try await world.run {
            let right = try await store.saveRight(LARight(), identifier: "a", secret: message)
            try await right.authorize(localizedReason: "why")
            world.lock()
            try await right.checkCanAuthorize()
            #expect(await failure { try await right.key.sign(message, algorithm: signing) } == .notInteractive)
            #expect(await failure { try await right.secret.rawData } == .notInteractive)
            let asked = world.prompts.count
            #expect(await failure { try await right.authorize(localizedReason: "why") } == .notInteractive)
            #expect(world.prompts.count == asked)
            world.unlock()
            try await right.authorize(localizedReason: "why")
            #expect(try await right.secret.rawData == message)
        }
    }

    /// One of them stays, whole, and nothing of the others.
    @Test func rightsSavedAtTheSameTimeReplaceEachOther() async throws {
        let world = try TestKeychain()
        try await world.run {
            let store = store
            try await withThrowingTaskGroup { group in
                for number in 0..<16 {
                    group.addTask {
                        try await store.saveRight(LARight(), identifier: "a", secret: Data([UInt8(number)]))
                    }
                }
                try await group.waitForAll()
            }
            let right = try await store.right(forIdentifier: "a")
            try await right.authorize(localizedReason: "why")
            #expect(try await right.secret.rawData.count == 1)
            #expect(items() == [kSecClassKey as String: 1, kSecClassGenericPassword as String: 2])
        }
    }

    /// An entry is replaced, and removed, only as it was read.
    @Test func anEntryThatWasReplacedMeanwhileStays() throws {
        let world = try TestKeychain()
        try world.run {
            let items = KeyItems(service: "list", label: "List")
            let control = AccessControl(protection: .whenUnlocked)
            #expect(try items.add("a", generic: Data([1]), protection: control))
            try items.change("a", generic: Data([2]), replacing: Data([1]), protection: control)
            #expect(throws: StoredKeyError.self) {
                try items.change("a", generic: Data([3]), replacing: Data([1]), protection: control)
            }
            #expect(try !items.remove("a", withNote: Data([1])))
            #expect(try items.list("a").map(\.generic) == [Data([2])])
            #expect(try items.remove("a", withNote: Data([2])))
            #expect(try items.list("a").isEmpty)
        }
    }

    @Test func completionHandlersAreCalledOnce() async throws {
        let world = try TestKeychain()
        await world.run {
            let saved = Collected<LAPersistedRight?>()
            let errors = Collected<LAError.Code?>()
            await withCheckedContinuation { continuation in
                store.saveRight(LARight(), identifier: "a", secret: message) { right, error in
                    saved.append(right)
                    errors.append((error as? LAError)?.code)
                    continuation.resume()
                }
            }
            await withCheckedContinuation { continuation in
                store.right(forIdentifier: "none") { right, error in
                    saved.append(right)
                    errors.append((error as? LAError)?.code)
                    continuation.resume()
                }
            }
            #expect(saved.all.map { $0 == nil } == [false, true])
            #expect(errors.all == [nil, .resourceNotFound])
        }
    }

    /// The format of Documentation/Specify/Formats/ItemStore.md.
    @Test func theEntryOnTheListHasItsFormat() throws {
        let identifier = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        let key = Data(repeating: 0xCC, count: 20)
        let secret = RightEntry(note: RightNote(secret: identifier), key: key)
        let bytes: [UInt8] = [1, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE]
        #expect(secret.encoded == Data(bytes + [0xFF]) + key)
        #expect(RightEntry(secret.encoded) == secret)
        #expect(secret.note.secretName == "00112233-4455-6677-8899-AABBCCDDEEFF")
        let bare = RightEntry(note: RightNote(secret: nil), key: key)
        #expect(bare.encoded == Data([1] + [UInt8](repeating: 0, count: 16)) + key)
        #expect(RightEntry(bare.encoded) == bare)
        #expect(bare.note.secretName == nil)
        // Another version, no key, and too short.
        #expect(RightEntry(Data([2]) + bare.encoded.dropFirst()) == nil)
        #expect(RightEntry(bare.encoded.prefix(17)) == nil)
        #expect(RightEntry(bare.encoded.prefix(16)) == nil)
    }

    @Test func anEntryThatCannotBeReadIsAnErrorAndCanBeRemoved() async throws {
        let world = try TestKeychain()
        try await world.run {
            try await store.saveRight(LARight(), identifier: "a")
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: RightItems.service, kSecAttrAccount: "a",
            ]
            let damage = [kSecAttrGeneric: Data([9])] as CFDictionary
            #expect(SecItemUpdate(query as CFDictionary, damage) == errSecSuccess)
            #expect(await failure { try await store.right(forIdentifier: "a") } == .systemCancel)
            try await store.removeRight(forIdentifier: "a")
            #expect(await failure { try await store.right(forIdentifier: "a") } == .resourceNotFound)
        }
    }

    /// The number of items of each class that has any.
    private func items() -> [String: Int] {
        var counts: [String: Int] = [:]
        for itemClass in [kSecClassGenericPassword, kSecClassKey] {
            let query: [CFString: Any] = [
                kSecClass: itemClass, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            var found: CFTypeRef?
            if SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess {
                counts[itemClass as String] = (found as? [Any])?.count
            }
        }
        return counts
    }
}
