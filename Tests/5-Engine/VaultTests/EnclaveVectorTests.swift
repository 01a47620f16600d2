import Bytes
import Crypto
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import Testing

/// Blobs of the software enclave and a recovery record against vectors made with OpenSSL (Python `cryptography`).
@Suite struct EnclaveVectorTests {
    private static func bytes(_ hexadecimal: String) -> Data {
        let digits = Array(hexadecimal)
        return Data(
            stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) })
    }

    /// The bytes 0 to 31.
    private static let deviceSecret = bytes(
        "534b4445564943450001000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa1bbb0dc"
            + "d1aef06e")
    /// Under the bytes 32 to 63.
    private static let sealed = bytes(
        "534b454b4559010100404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f6061626364"
            + "65666768696a6b7e80d4a9944198a7e590ba2deec963b86a36dfb8ed21bfe8")
    /// The private key is the bytes 1 to 32.
    private static let key = bytes(
        "534b454b455901010304515c3d6eb9e396b904d3feca7f54fdcd0cc1e997bf375dca515ad0a6c3b4035f4536be3a"
            + "50f318fbf9a5475902a221502bef0d57e08c53b2cc0a56f17d9f9354404142434445464748494a4b4c4d4e4f5051"
            + "52535455565758595a5b5c5d5e5f606162636465666768696a6b1ea2a4c8f235fadbe5a9befbb2e2e17a5524148c"
            + "7d2baf7fddcf8c3842eb6e8f2a13af4b62a5d84fdee9f8f8a1aaee62")
    /// The class keys are 32 times 1, 2 and 3.
    private static let record = bytes(
        "534b5245434f56520001000102030405060708090a0b0c0d0e0f6465666768696a6b6c6d6e6f7071727374757677"
            + "78797a7b7c7d7e7f8081828303012c81029c39adcf2a71b74681e17f99408430e51a0dd8df57ad2f635d5a1063ea"
            + "17f81e549f723fa30206b58354734a699597e32a2085aff0b17b33255bd755550f71dc2f9376562f1b272a271bb6"
            + "0ccbb003d1dd4f3d7be424f7b76a024ca2e9f9275ea23dcb3dddfd9402705b3ea273b0a03d2d12502e0fd34ad7ae"
            + "0bdc91741145cb0fafb63a282c887adb377b34d6d48c522e5af64dda295d")
    /// The bytes 200 to 231.
    private static let recoveryKey = "ZDE4VS6MZXHM7UGR2LJ5JVOW27MNTWW33TO55X7A4HROHZHF43TQ"

    private let authorization = SymmetricKey(data: Data(32..<64))

    @Test func aSealedSecretOpens() throws {
        let enclave = try SoftwareEnclave(decoding: Self.deviceSecret)
        let blob = try EnclaveBlob(decoding: Self.sealed)
        let secret = try enclave.unseal(blob, authorization: authorization)
        #expect(secret.withUnsafeBytes { Data($0) } == Data("a secret".utf8))
    }

    @Test func aKeyOpens() throws {
        let enclave = try SoftwareEnclave(decoding: Self.deviceSecret)
        let key = try EnclaveBlob(decoding: Self.key)
        #expect(key.uses == [.signing, .keyAgreement])
        let scalar = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(1...32))
        #expect(try enclave.publicKey(of: key) == scalar.publicKey.x963Representation)
        let peer = P256.KeyAgreement.PrivateKey()
        let shared = try enclave.sharedSecret(
            with: peer.publicKey.x963Representation, using: key, authorization: authorization)
        let expected = try peer.sharedSecretFromKeyAgreement(with: scalar.publicKey)
        #expect(shared.withUnsafeBytes { Data($0) } == expected.withUnsafeBytes { Data($0) })
    }

    @Test func aRecoveryRecordOpens() throws {
        let key = try #require(try? Data(Self.recoveryKey.utf8).withUnsafeBytes { try RecoveryKey(typed: $0) })
        let record = try RecoveryRecord(decoding: Self.record, with: key)
        let enclave = try SoftwareEnclave()
        let keybag = try record.restored(in: enclave, with: key)
        #expect(keybag.identifier.uuidString == "00010203-0405-0607-0809-0A0B0C0D0E0F")
        for (protection, byte) in [(RecoveryRecord.classes[0], UInt8(1)), (.afterFirstUnlock, 2), (.always, 3)] {
            let classKey = try keybag.unwrapKey(for: protection, in: enclave)
            #expect(classKey.withUnsafeBytes { Data($0) } == Data(repeating: byte, count: 32))
        }
    }
}
