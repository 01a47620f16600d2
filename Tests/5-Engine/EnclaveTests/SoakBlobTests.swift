import Crypto
import Enclave
import Foundation
import SecureMemory
import TPM
import TestSupport
import Testing

/// Blobs and device records that were changed get an error, and nothing else.
@Suite struct SoakBlobTests {
    @Test(arguments: EnclaveUnderTest.all) func changedBlobs(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let authorization = SymmetricKey.random
        let key = try enclave.createKey(for: .signing, authorization: authorization).encoded()
        let sealed = try enclave.seal(.random(count: 32), authorization: authorization).encoded()
        var random = SeededGenerator()
        for round in 0..<TestScale.count(200, soak: 20_000) {
            for original in [key, sealed] {
                var headed = random.bytes(random.int(below: 600))
                headed.replaceSubrange(0..<min(9, headed.count), with: original.prefix(9))
                for bytes in [random.mutated(original), headed] where bytes != original {
                    guard let blob = try? EnclaveBlob(decoding: bytes) else { continue }
                    // Decoding the public area takes no TPM, and is most of what can go wrong.
                    _ = try? enclave.publicKey(of: blob)
                    guard round % 20 == 0 else { continue }
                    #expect(throws: EnclaveError.self, "seed \(random.seed)") {
                        _ = try enclave.sign(digest: Data(count: 32), with: blob, authorization: authorization)
                    }
                    #expect(throws: EnclaveError.self, "seed \(random.seed)") {
                        _ = try enclave.unseal(blob, authorization: authorization)
                    }
                }
            }
        }
    }

    @Test func changedDeviceRecords() throws {
        let tpm = try SoftwareTPM()
        let connection = TPMConnection.shared(tpm.address)
        let original = try TPMEnclave.make(connection).encoded()
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(300, soak: 20_000) {
            for bytes in [random.bytes(random.int(below: 400)), random.mutated(original)] where bytes != original {
                #expect(throws: EnclaveError.self, "seed \(random.seed)") {
                    try TPMEnclave(decoding: bytes, connection)
                }
            }
        }
        withExtendedLifetime(tpm) {}
    }
}
