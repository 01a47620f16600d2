import CryptoKit
import Foundation
import KeychainTesting
import TestSupport
import Testing

/// Keys with CryptoKit's names, checked against swift-crypto's.
struct SecureEnclaveTests {
    private let message = Data("message".utf8)

    @Test(arguments: World.allCases)
    func signing(world: World) throws {
        try world.run { _ in
            #expect(SecureEnclave.isAvailable)
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            let signature = try key.signature(for: message)
            #expect(key.publicKey.isValidSignature(signature, for: message))
            #expect(!key.publicKey.isValidSignature(signature, for: Data("other".utf8)))
            let again = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: key.dataRepresentation)
            #expect(again.publicKey.rawRepresentation == key.publicKey.rawRepresentation)
            #expect(key.publicKey.isValidSignature(try again.signature(for: message), for: message))
            let digest = SHA512.hash(data: message)
            #expect(key.publicKey.isValidSignature(try key.signature(for: digest), for: digest))
            let other = try SecureEnclave.P256.Signing.PrivateKey()
            #expect(other.publicKey.rawRepresentation != key.publicKey.rawRepresentation)
        }
    }

    @Test(arguments: World.allCases)
    func agreement(world: World) throws {
        try world.run { _ in
            let key = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            // Some x coordinates begin with zeros, and either of two points has one.
            for _ in 0..<4 {
                let peer = Crypto.P256.KeyAgreement.PrivateKey()
                let ours = try key.sharedSecretFromKeyAgreement(with: peer.publicKey)
                let theirs = try peer.sharedSecretFromKeyAgreement(with: key.publicKey)
                #expect(ours == theirs)
            }
        }
    }

    @Test(arguments: World.allCases)
    func encapsulation(world: World) throws {
        try world.run { _ in
            let small = try SecureEnclave.MLKEM768.PrivateKey()
            let result = try small.publicKey.encapsulate()
            let again = try SecureEnclave.MLKEM768.PrivateKey(dataRepresentation: small.dataRepresentation)
            #expect(try again.decapsulate(result.encapsulated) == result.sharedSecret)
            let large = try SecureEnclave.MLKEM1024.PrivateKey()
            let other = try large.publicKey.encapsulate()
            #expect(try large.decapsulate(other.encapsulated) == other.sharedSecret)
            #expect(throws: SecureEnclaveError.self) { try large.decapsulate(result.encapsulated) }
        }
    }

    @Test(arguments: World.allCases)
    func postQuantumSignatures(world: World) throws {
        try world.run { _ in
            let small = try SecureEnclave.MLDSA65.PrivateKey()
            #expect(small.publicKey.isValidSignature(try small.signature(for: message), for: message))
            let context = Data("context".utf8)
            let signature = try small.signature(for: message, context: context)
            #expect(small.publicKey.isValidSignature(signature, for: message, context: context))
            #expect(!small.publicKey.isValidSignature(signature, for: message))
            let large = try SecureEnclave.MLDSA87.PrivateKey()
            let again = try SecureEnclave.MLDSA87.PrivateKey(dataRepresentation: large.dataRepresentation)
            #expect(large.publicKey.isValidSignature(try again.signature(for: message), for: message))
            #expect(throws: SecureEnclaveError.self) { try large.signature(for: message, context: Data(count: 256)) }
        }
    }

    @Test(arguments: World.allCases)
    func lock(world: World) throws {
        try world.run { keychain in
            let whenUnlocked = try SecureEnclave.P256.Signing.PrivateKey()
            let afterFirst = try SecureEnclave.P256.Signing.PrivateKey(
                accessControl: control(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage))
            keychain.lock()
            #expect(throws: SecureEnclaveError.self) { try whenUnlocked.signature(for: message) }
            #expect(throws: SecureEnclaveError.self) { try SecureEnclave.P256.Signing.PrivateKey() }
            _ = try afterFirst.signature(for: message)
            keychain.reboot()
            #expect(throws: SecureEnclaveError.self) { try afterFirst.signature(for: message) }
            keychain.unlock()
            _ = try whenUnlocked.signature(for: message)
        }
    }

    @Test(arguments: World.allCases)
    func presence(world: World) throws {
        try world.run { keychain in
            let key = try SecureEnclave.P256.Signing.PrivateKey(
                accessControl: control(kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence]))
            #expect(keychain.prompts.isEmpty)
            _ = try key.signature(for: message)
            #expect(keychain.prompts.count == 1)
            keychain.authentication = .userCancel
            #expect(code { try key.signature(for: message) } == .userCanceled)
            keychain.authentication = .authenticationFailed
            #expect(code { try key.signature(for: message) } == .authenticationFailed)
            keychain.authentication = .succeedsOnce
            let context = LAContext()
            let shared = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: key.dataRepresentation, authenticationContext: context)
            _ = try shared.signature(for: message)
            _ = try shared.signature(for: message)
            context.invalidate()
            #expect(code { try shared.signature(for: message) } == .invalidContext)
            let silent = LAContext()
            silent.interactionNotAllowed = true
            let mute = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: key.dataRepresentation, authenticationContext: silent)
            #expect(code { try mute.signature(for: message) } == .interactionNotAllowed)
        }
    }

    @Test(arguments: World.allCases)
    func enrolment(world: World) throws {
        try world.run { keychain in
            let key = try SecureEnclave.P256.Signing.PrivateKey(
                accessControl: control(
                    kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .biometryCurrentSet]))
            _ = try key.signature(for: message)
            keychain.changeBiometry()
            #expect(code { try key.signature(for: message) } == .authenticationFailed)
        }
    }

    @Test(arguments: World.allCases)
    func applicationPassword(world: World) throws {
        try world.run { _ in
            let control = try control(
                kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .applicationPassword])
            #expect(
                code { try SecureEnclave.P256.Signing.PrivateKey(accessControl: control) } == .interactionNotAllowed)
            let context = LAContext()
            #expect(context.setCredential(Data("right".utf8), type: .applicationPassword))
            let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control, authenticationContext: context)
            _ = try key.signature(for: message)
            let wrong = LAContext()
            #expect(wrong.setCredential(Data("wrong".utf8), type: .applicationPassword))
            let stranger = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: key.dataRepresentation, authenticationContext: wrong)
            #expect(code { try stranger.signature(for: message) } == .authenticationFailed)
            let forgetful = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: key.dataRepresentation)
            #expect(code { try forgetful.signature(for: message) } == .interactionNotAllowed)
        }
    }

    @Test(arguments: World.allCases)
    func otherVaultsAndOtherKinds(world: World) throws {
        var stolen = Data()
        try world.run { _ in
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            stolen = key.dataRepresentation
            #expect(
                code { try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: stolen) } == .malformedKey)
            #expect(code { try SecureEnclave.MLKEM768.PrivateKey(dataRepresentation: stolen) } == .malformedKey)
            #expect(code { try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: Data()) } == .malformedKey)
        }
        try world.run { _ in
            let key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: stolen)
            #expect(code { try key.signature(for: message) } == .failed)
        }
    }

    private func control(_ protection: CFString, _ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(nil, protection, flags, nil))
    }

    /// The code of the error that `body` throws; nil if it throws none.
    private func code<Result>(_ body: () throws -> Result) -> SecureEnclaveError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? SecureEnclaveError)?.code
        }
    }
}
