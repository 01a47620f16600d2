import CryptoKit
import Foundation
import KeychainModel
import KeychainTesting
import TestSupport
import Testing

/// A record that was changed never does anything.
struct SoakEnclaveKeyRecordTests {
    private func usable(_ record: Data, _ message: Data) -> Bool {
        guard let key = try? SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: record) else { return false }
        return (try? key.signature(for: message)) != nil
    }

    @Test func eachByteCounts() throws {
        try World.software.run { _ in
            let record = try SecureEnclave.P256.Signing.PrivateKey().dataRepresentation
            let message = Data("message".utf8)
            #expect(usable(record, message))
            for index in record.indices {
                var changed = record
                changed[index] ^= 1
                #expect(!usable(changed, message), "byte \(index)")
            }
            for count in 0..<record.count { #expect(!usable(record.prefix(count), message)) }
            #expect(!usable(record + [0], message))
        }
    }

    /// What asks for a person cannot be taken out of the record.
    @Test func constraintsCannotBeTakenAway() throws {
        try World.software.run { keychain in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence], nil))
            let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control)
            var record = try #require(EnclaveKeyRecord(decoding: key.dataRepresentation))
            record.accessControl.flags = .privateKeyUsage
            #expect(!usable(record.encoded, Data()))
            record.accessControl = AccessControl(protection: .always)
            keychain.lock()
            #expect(!usable(record.encoded, Data()))
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test func mutatedRecords() throws {
        try World.software.run { _ in
            let original = try SecureEnclave.P256.Signing.PrivateKey().dataRepresentation
            var random = SeededGenerator()
            for round in 0..<TestScale.count(1_000, soak: 100_000) {
                let mutated = random.mutated(original)
                guard mutated != original else { continue }
                #expect(!usable(mutated, Data()), "seed \(random.seed), round \(round)")
                if let record = EnclaveKeyRecord(decoding: mutated) { #expect(record.encoded == mutated) }
            }
        }
    }
}
