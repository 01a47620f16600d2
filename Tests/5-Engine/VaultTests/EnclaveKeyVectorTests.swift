import Bytes
import Crypto
import Foundation
import KeychainModel
import Testing

@testable import Vault

/// The record of a key of the enclave, against values that Python's cryptography worked out (see
/// Documentation/Specify/Formats/Enclave.md).
struct EnclaveKeyVectorTests {
    private var record: EnclaveKeyRecord {
        EnclaveKeyRecord(
            kind: .p256,
            accessControl: AccessControl(
                protection: .whenUnlockedThisDeviceOnly, flags: [.privateKeyUsage, .userPresence]),
            salt: Data(0x40...0x4F), factors: Data(), publicKey: [4] + Data(repeating: 0xAA, count: 64),
            blob: Data("blob of the enclave".utf8), tag: Data())
    }

    private let key = SymmetricKey(data: Data(0...31))

    private func hexadecimal(_ bytes: Data) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    @Test func derivations() {
        let authorization = EnclaveKeyDerivation.authorization(of: record, under: key)
        #expect(
            hexadecimal(authorization.withUnsafeBytes { Data($0) })
                == "8311826d5a9385cf0e5319a877f816cd56ce88c0fe8cf1ed35a69ca5794427bd")
        #expect(hexadecimal(EnclaveKeyDerivation.tag(of: record, under: key)) == "0c01efb37191f11e050345812e26cb77")
    }

    @Test func encoding() {
        var record = record
        record.tag = EnclaveKeyDerivation.tag(of: record, under: key)
        #expect(
            hexadecimal(record.encoded)
                == "534b454e434b4559010305010000000040000001404142434445464748494a4b4c4d4e4f0000004104"
                + String(repeating: "aa", count: 64)
                + "0013626c6f62206f662074686520656e636c6176650c01efb37191f11e050345812e26cb77")
        #expect(EnclaveKeyRecord(decoding: record.encoded) == record)
    }
}
