import Credentials
import CryptoKit
import DataProtection
import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import LocalAuthenticationServices
import Testing

/// The Swift examples of README.md and of Documentation/Use/Swift.md, run.
///
/// ``ReadmeTests`` checks that they are the same.
@Suite struct ReadmeExamples {
    @Test func appleFunctions() throws {
        try withTestKeychain { _ in
            let item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: "com.example.mail",
                kSecAttrAccount: "alice",
            ]
            let value: [CFString: Any] = [kSecValueData: Data("correct horse".utf8)]
            var status = SecItemAdd(item.merging(value) { $1 } as CFDictionary, nil)  // errSecSuccess
            #expect(status == errSecSuccess)

            var found: CFTypeRef?
            status = SecItemCopyMatching(item.merging([kSecReturnData: true]) { $1 } as CFDictionary, &found)
            let secret = found as? Data
            #expect(status == errSecSuccess)
            #expect(secret == Data("correct horse".utf8))
        }
    }

    @Test func idiomatic() throws {
        try withTestKeychain { _ in
            let keychain = Keychain(service: "com.example.mail")
            try keychain.set("correct horse", for: "alice")
            let password = try keychain.get(String.self, for: "alice")
            let launches = try keychain.update(Int.self, for: "launches") { $0 = ($0 ?? 0) + 1 }
            let accounts = try keychain.items().map(\.account)
            try keychain.remove("alice")
            #expect(password == "correct horse")
            #expect(launches == 1)
            #expect(accounts == ["alice", "launches"])
        }
    }

    @Test func attributesAndEnds() throws {
        try withTestKeychain { _ in
            let tokens = Keychain(service: "com.example.tokens")
            let forADay = KeychainItem.Attributes(custom: ["stage": "test"], expiry: .after(.seconds(86_400)))
            try tokens.set("t0p", for: "ci", attributes: forADay)
            let names = try tokens.items(withCustom: ["stage": "test"]).map(\.account)
            #expect(names == ["ci"])
        }
    }

    @Test func sendingItems() throws {
        try withTestKeychain { _ in
            let attributes: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true] as [CFString: Any],
            ]
            let key = try #require(SecKeyCreateRandomKey(attributes as CFDictionary, nil))
            let point = try #require(
                SecKeyCopyPublicKey(key).flatMap { SecKeyCopyExternalRepresentation($0, nil) } as Data?)
            let publicKeyOfTheOther = try P256.KeyAgreement.PublicKey(x963Representation: point).pemRepresentation
            let keychain = Keychain(service: "com.example.mail")
            try keychain.set("correct horse", for: "alice")
            let file = try keychain.send(["alice"], to: Keychain.Recipient(pem: publicKeyOfTheOther))
            try keychain.remove("alice")
            try keychain.receive(file)  // there, with the private key in that keychain
            #expect(try keychain.get(String.self, for: "alice") == "correct horse")
        }
    }

    @Test func passwordsAndMoves() throws {
        try withTestKeychain { _ in
            let old = Keychain(service: "Mail", accessibility: .afterFirstUnlock)
            try old.set("moved", for: "bob")
            let keychain = Keychain(service: "com.example.mail")
            try keychain.set(Keychain.generatePassword(), for: "ada")  // or .generatePassword(.words(6))
            try keychain.set(OneTimePassword("otpauth://totp/Example:ada?secret=GEZDGNBVGY3TQOJQ"), for: "ada/code")
            let code = try keychain.get(OneTimePassword.self, for: "ada/code")?.code(at: Date())
            // After a service got another name: all items, with their former versions, in one step.
            try keychain.migrate(from: Keychain(service: "Mail", accessibility: .afterFirstUnlock))
            #expect(code?.count == 6)
            #expect(try keychain.get(String.self, for: "bob") == "moved")
            #expect(try keychain.get(String.self, for: "ada")?.count == 20)
        }
    }

    @Test func versionsAndChanges() throws {
        try withTestKeychain { _ in
            let keys = Keychain(service: "com.example.keys")
            try keys.set("k1", for: "signing", attributes: .init(keep: .versions(5)))
            let start = try keys.changes(since: 0).next
            try keys.set("k2", for: "signing")
            let before = try keys.get(String.self, for: "signing", version: 1)
            let changed = try keys.changes(since: start).entries.map(\.version)
            try keys.restore("signing")
            #expect(before == "k1" && changed == [2])
            #expect(try keys.get(String.self, for: "signing") == "k1")
        }
    }

    @Test func errors() throws {
        try withTestKeychain { world in
            let keychain = Keychain(service: "com.example.mail")
            try keychain.set("abc", for: "token")
            var token: String?
            world.lock()
            do {
                token = try keychain.get(String.self, for: "token")
            } catch KeychainError.Code.interactionNotAllowed {
                // Locked: try again after the unlock.
            } catch let error as KeychainError {
                print(error.message)
            }
            #expect(token == nil)
        }
    }

    struct Session {
        @KeychainStored("token", service: "com.example.mail") var token: String?
    }

    @Test func property() throws {
        try withTestKeychain { _ in
            let session = Session()
            session.token = "abc"
            #expect(session.token == "abc")
            let stored = try Keychain(service: "com.example.mail").get(String.self, for: "token")
            #expect(stored == "abc")
        }
    }

    @Test func signingIn() async throws {
        let typed = "correct hippo stapler"
        let hasher = PasswordHasher()  // import Credentials
        let stored = try await hasher.hash(SignInPassword(typed))  // $argon2id$v=19$m=65536,t=3,p=1$…
        let answer = try await hasher.verify(SignInPassword(typed), against: stored)  // also bcrypt, scrypt, PBKDF2
        #expect(answer.isCorrect)
    }

    @Test func personAndLock() throws {
        try withTestKeychain { world in
            let cheap = KeychainPasscode.Options(cost: .init(memoryKiB: 1_024, passes: 1))
            try KeychainLock.setPasscode(KeychainPasscode("swordfish"), options: cheap)
            let typed = "swordfish"
            world.lock()

            try KeychainLock.unlock(with: KeychainPasscode(typed))

            let bank = Keychain(service: "com.example.bank", accessControl: .userPresence)
            try bank.set("4711", for: "alice")  // asks nobody
            #expect(world.prompts.isEmpty)
            let pin = try bank.get(String.self, for: "alice")  // asks for the passcode or a finger
            #expect(pin == "4711")
            #expect(world.prompts.count == 1)
        }
    }

    @Test func context() throws {
        try withTestKeychain { world in
            try Keychain(service: "com.example.mail", accessControl: .userPresence).set("correct horse", for: "alice")
            let item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: "com.example.mail",
                kSecAttrAccount: "alice",
            ]
            var found: CFTypeRef?
            var status = errSecSuccess

            let context = LAContext()
            context.localizedReason = "sign in to your mail"
            let asking: [CFString: Any] = [kSecReturnData: true, kSecUseAuthenticationContext: context]
            status = SecItemCopyMatching(item.merging(asking) { $1 } as CFDictionary, &found)
            #expect(status == errSecSuccess)
            #expect(found as? Data == Data("correct horse".utf8))
            #expect(world.prompts == ["sign in to your mail"])
        }
    }

    @Test func enclave() throws {
        try withTestKeychain { _ in
            let key = try SecureEnclave.P256.Signing.PrivateKey()  // import CryptoKit, or EnclaveKeys
            let signature = try key.signature(for: Data("a message".utf8))
            #expect(key.publicKey.isValidSignature(signature, for: Data("a message".utf8)))
        }
    }

    @Test func files() throws {
        try withTestKeychain { world in
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let diary = ProtectedFile(folder.appending(path: "diary"))
            try diary.write(Data("Dear diary".utf8), options: .completeFileProtection)  // while unlocked
            let entry = try diary.data()
            #expect(entry == Data("Dear diary".utf8))
            #expect(try diary.protection == .complete)

            let manager = ProtectedFileManager.default  // a FileManager that does what .protectionKey says
            try manager.setAttributes([.protectionKey: FileProtectionType.completeUnlessOpen], ofItemAtPath: diary.path)
            #expect(try diary.protection == .completeUnlessOpen)
        }
    }

    @Test func testing() throws {
        let keychain = Keychain(service: "com.example.mail")
        func signIn(_ account: String, password: String) throws { try keychain.set(password, for: account) }
        func resume() throws { _ = try keychain.get(String.self, for: "alice") }

        let world = try TestKeychain()
        try world.run {
            try signIn("alice", password: "correct horse")
            world.lock()
            #expect(throws: KeychainError.self) { try resume() }
        }
    }
}
