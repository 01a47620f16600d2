import CryptoKit
import Foundation
import KeychainTesting
import TestSupport
import Testing

/// Keys of the enclave where swift-crypto's protocols are asked for.
struct CryptoProtocolTests {
    private let message = Data("message".utf8)
    private let info = Data("info".utf8)

    @Test(arguments: World.allCases, [HPKE.Ciphersuite.P256_SHA256_AES_GCM_256, .p256ChaCha])
    func aRecipientsKeyIsInTheEnclave(world: World, suite: HPKE.Ciphersuite) throws {
        try world.run { keychain in
            let key = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: info)
            let sealed = try (0..<3).map { number in
                try sender.seal(message + [number], authenticating: Data([number]))
            }
            let again = try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: key.dataRepresentation)
            var recipient = try HPKE.Recipient(
                privateKey: again, ciphersuite: suite, info: info, encapsulatedKey: sender.encapsulatedKey)
            for (number, ciphertext) in zip(UInt8(0)..., sealed) {
                #expect(try recipient.open(ciphertext, authenticating: Data([number])) == message + [number])
            }
            let exported = try sender.exportSecret(context: info, outputByteCount: 32)
            #expect(try recipient.exportSecret(context: info, outputByteCount: 32) == exported)

            // Another key, and other information.
            let stranger = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            for (key, info) in [(stranger, info), (key, Data())] {
                var recipient = try HPKE.Recipient(
                    privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: sender.encapsulatedKey)
                #expect(throws: (any Error).self) {
                    try recipient.open(sealed[0], authenticating: Data([0]))
                }
            }
            keychain.lock()
            #expect(throws: SecureEnclaveError.self) {
                try HPKE.Recipient(
                    privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: sender.encapsulatedKey)
            }
        }
    }

    @Test(arguments: World.allCases)
    func aSendersKeyIsInTheEnclave(world: World) throws {
        try world.run { _ in
            let suite = HPKE.Ciphersuite.P256_SHA256_AES_GCM_256
            let own = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let peer = Crypto.P256.KeyAgreement.PrivateKey()
            var sender = try HPKE.Sender(
                recipientKey: peer.publicKey, ciphersuite: suite, info: info, authenticatedBy: own)
            let sealed = try sender.seal(message)
            var recipient = try HPKE.Recipient(
                privateKey: peer, ciphersuite: suite, info: info, encapsulatedKey: sender.encapsulatedKey,
                authenticatedBy: own.publicKey)
            #expect(try recipient.open(sealed) == message)
            var deceived = try HPKE.Recipient(
                privateKey: peer, ciphersuite: suite, info: info, encapsulatedKey: sender.encapsulatedKey,
                authenticatedBy: Crypto.P256.KeyAgreement.PrivateKey().publicKey)
            #expect(throws: (any Error).self) { try deceived.open(sealed) }
        }
    }

    @Test func aPersonIsAskedBeforeARecipientOpens() throws {
        try World.software.run { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence], nil))
            let suite = HPKE.Ciphersuite.P256_SHA256_AES_GCM_256
            let key = try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: control)
            var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: info)
            let sealed = try sender.seal(message)
            #expect(keychain.prompts.isEmpty)
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: sender.encapsulatedKey)
            #expect(try recipient.open(sealed) == message)
            #expect(keychain.prompts.count == 1)
        }
    }

    @Test(arguments: World.allCases)
    func keysAreMadeByTheirProtocol(world: World) throws {
        func roundTrip<Key: KEMPrivateKey>(_: Key.Type) throws {
            let key = try Key.generate()
            let result = try key.publicKey.encapsulate()
            #expect(try key.decapsulate(result.encapsulated) == result.sharedSecret)
        }
        try world.run { _ in
            try roundTrip(SecureEnclave.MLKEM768.PrivateKey.self)
            try roundTrip(SecureEnclave.MLKEM1024.PrivateKey.self)
        }
    }

    @Test func representationsAreTakenAsAnyBytes() throws {
        try World.software.run { _ in
            let small = try SecureEnclave.MLKEM768.PrivateKey.generate()
            let capsule = try small.publicKey.encapsulate()
            let again = try SecureEnclave.MLKEM768.PrivateKey(dataRepresentation: [UInt8](small.dataRepresentation))
            #expect(try again.decapsulate([UInt8](capsule.encapsulated)) == capsule.sharedSecret)
            let signing = try SecureEnclave.MLDSA65.PrivateKey()
            let slice = ([0] + [UInt8](signing.dataRepresentation)).dropFirst()
            let same = try SecureEnclave.MLDSA65.PrivateKey(dataRepresentation: slice)
            #expect(signing.publicKey.isValidSignature(try same.signature(for: message), for: message))
        }
    }
}

extension HPKE.Ciphersuite {
    fileprivate static let p256ChaCha = HPKE.Ciphersuite(
        kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly)
}
