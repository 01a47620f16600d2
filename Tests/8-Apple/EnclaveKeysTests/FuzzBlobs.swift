import Bytes
import Crypto
import CryptoKit
import Enclave
import Foundation
import KeychainModel
import KeychainTesting
import SecureMemory
import TPM
import TestSupport
import Testing

/// What is kept outside an enclave, and comes back to it: blobs, records of devices, records of keys.
struct FuzzBlobs {
    private let authorization = Crypto.SymmetricKey(size: .bits256)

    private func blobs(of enclave: any Enclave) throws -> [Data] {
        [
            try enclave.encoded(), try enclave.createKey(for: .signing, authorization: authorization).encoded(),
            try enclave.createKey(for: .keyAgreement, authorization: authorization).encoded(),
            try enclave.seal(.random(count: 32), authorization: authorization).encoded(),
        ]
    }

    private func records() throws -> [Data] {
        let control = try #require(
            SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence], nil))
        return [
            try SecureEnclave.P256.Signing.PrivateKey().dataRepresentation,
            try SecureEnclave.P256.KeyAgreement.PrivateKey().dataRepresentation,
            try SecureEnclave.P256.Signing.PrivateKey(accessControl: control).dataRepresentation,
        ]
    }

    @Test func fuzzEnclave() throws {
        let software = try SoftwareEnclave()
        let device = try SoftwareTPM()
        let connection = TPMConnection.shared(device.address)
        let tpm = try TPMEnclave.make(connection)
        try World.software.run { _ in
            let samples = try blobs(of: software) + blobs(of: tpm) + records()
            let originals = Set(samples)
            var run = FuzzRun("enclave", samples: samples, plain: 2_000, soak: 200_000)
            let report = try run.run { input in
                let isOriginal = originals.contains(input)
                var isAccepted = try readRecord(input, isOriginal: isOriginal)
                if (try? SoftwareEnclave(decoding: input)) != nil
                    || (try? TPMEnclave(decoding: input, connection)) != nil
                {
                    guard isOriginal else { throw FuzzFinding("a changed record of a device") }
                    isAccepted = true
                }
                for enclave in [software, tpm] as [any Enclave] {
                    guard let blob = try? EnclaveBlob(decoding: input), blob.enclave == enclave.kind else { continue }
                    isAccepted = true
                    guard blob.encoded() == input else { throw FuzzFinding("a blob that is not what was read") }
                    _ = try? enclave.publicKey(of: blob)
                    // A TPM takes its time: it sees one in a few hundred.
                    guard enclave.kind == .software || input.hashedByte == 0 else { continue }
                    try use(blob, in: enclave, isOriginal: isOriginal)
                }
                return isAccepted
            }
            #expect(report.accepted >= min(report.tried, samples.count))
        }
        withExtendedLifetime(device) {}
    }

    private func use(_ blob: EnclaveBlob, in enclave: any Enclave, isOriginal: Bool) throws {
        let isSigned = (try? enclave.sign(digest: Data(count: 32), with: blob, authorization: authorization)) != nil
        let isOpened = (try? enclave.unseal(blob, authorization: authorization)) != nil
        if isSigned || isOpened, !isOriginal { throw FuzzFinding("a changed blob works") }
    }

    private func readRecord(_ input: Data, isOriginal: Bool) throws -> Bool {
        guard let record = EnclaveKeyRecord(decoding: input) else { return false }
        guard record.encoded == input else { throw FuzzFinding("a record that is not what was read") }
        guard !isOriginal, let key = try? SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: input) else {
            return true
        }
        if (try? key.signature(for: Data())) != nil { throw FuzzFinding("a changed record works") }
        return true
    }
}

extension Data {
    /// A byte that depends on all others, and is the same in every run.
    fileprivate var hashedByte: UInt8 { Array(Crypto.SHA256.hash(data: self))[0] }
}
