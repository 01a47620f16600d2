import Attestation
import Crypto
import Foundation
import TestSupport
import Testing

/// Statements that are well signed and prove nothing.
@Suite struct ForgedAttestationTests {
    /// An attestation made without a TPM, each part of which can be another.
    private struct Forgery {
        let attester = P256.Signing.PrivateKey()
        let key = P256.Signing.PrivateKey()
        var attesterAttributes: UInt32 = 0x5_0472
        var keyAttributes: UInt32 = 0x4_0472
        var attesterScheme: [UInt8] = [0, 0x18, 0, 0x0B]
        var keyScheme: [UInt8] = [0, 0x10]
        var policy: [UInt8] = []
        var magic: [UInt8] = [0xFF, 0x54, 0x43, 0x47]
        var type: [UInt8] = [0x80, 0x17]
        var hierarchy: [UInt8] = [0x40, 0, 0, 0x0B]
        var isSafe: UInt8 = 1

        private func counted(_ bytes: Data) -> Data { Data([0, UInt8(bytes.count)]) + bytes }

        private func area(_ key: P256.Signing.PublicKey, _ attributes: UInt32, _ scheme: [UInt8]) -> Data {
            let raw = key.rawRepresentation
            let flags = withUnsafeBytes(of: attributes.bigEndian) { Data($0) }
            return counted(
                Data([0, 0x23, 0, 0x0B]) + flags + counted(Data(policy)) + [0, 0x10] + scheme + [0, 3, 0, 0x10]
                    + counted(raw.prefix(32)) + counted(raw.suffix(32)))
        }

        private func name(_ bytes: Data) -> Data { Data([0, 0x0B]) + SHA256.hash(data: bytes) }

        func made() throws -> KeyAttestation {
            let keyArea = area(key.publicKey, keyAttributes, keyScheme)
            let attesterArea = area(attester.publicKey, attesterAttributes, attesterScheme)
            let attesterName = name(Data(hierarchy) + name(attesterArea.dropFirst(2)))
            let keyName = name(keyArea.dropFirst(2))
            let statement =
                Data(magic + type) + counted(attesterName) + counted(Data("a nonce".utf8)) + Data(count: 16) + [isSafe]
                + Data(count: 8) + counted(keyName) + counted(keyName)
            let raw = try attester.signature(for: SHA256.hash(data: statement)).rawRepresentation
            return KeyAttestation(
                key: keyArea, attestationKey: attesterArea, endorsementKey: Data(), statement: statement,
                signature: Data([0, 0x18, 0, 0x0B]) + counted(raw.prefix(32)) + counted(raw.suffix(32)),
                rsaCertificate: Data(), ellipticCertificate: Data())
        }
    }

    private func refused(_ error: AttestationError, _ change: (inout Forgery) -> Void) throws {
        var forgery = Forgery()
        change(&forgery)
        let made = try forgery.made()
        #expect(throws: error) { try made.verified(nonce: nil) }
    }

    /// The others differ from this one in one place. Who has the attestation key shown is not asked here.
    @Test func theRightOneIsTaken() throws {
        let shown = try Forgery().made().verified(nonce: Data("a nonce".utf8))
        #expect(shown.attributes == [.ownKey, .sign])
    }

    @Test func theAttestationKeyHasToBeRestricted() throws {
        // Unrestricted, imported, movable, without an authorization of its own, one that decrypts as well, one that
        // signs X.509.
        for attributes: UInt32 in [0x4_0472, 0x5_0452, 0x5_0470, 0x5_0462, 0x5_0432, 0x7_0472, 0xD_0472, 0x1_0472] {
            try refused(.unrestrictedAttester) { $0.attesterAttributes = attributes }
        }
        try refused(.unrestrictedAttester) { $0.attesterScheme = [0, 0x10] }
        try refused(.unrestrictedAttester) { $0.attesterScheme = [0, 0x18, 0, 0x04] }
        try refused(.unrestrictedAttester) { $0.policy = [UInt8](repeating: 0, count: 32) }
        try refused(.otherAttester) { $0.hierarchy = [0x40, 0, 0, 0x01] }
    }

    @Test func theKeyHasToBeTheTPMs() throws {
        // Imported, movable either way, exempt from its authorization, of no use, a storage key, one that attests.
        for attributes: UInt32 in [
            0x4_0452, 0x4_0470, 0x4_0462, 0x4_0432, 0x0472, 0x3_0472, 0x5_0472, 0x4_0072, 0xC_0472,
        ] {
            try refused(.unguardedKey) { $0.keyAttributes = attributes }
        }
        try refused(.unguardedKey) { $0.keyScheme = [0, 0x18, 0, 0x0B] }
    }

    @Test func theStatementHasToBeATPMs() throws {
        try refused(.notFromATPM) { $0.magic = [0xFF, 0x54, 0x43, 0x48] }
        // A quote, and a certified creation.
        try refused(.notACertification) { $0.type = [0x80, 0x18] }
        try refused(.notACertification) { $0.type = [0x80, 0x1A] }
        try refused(.malformed("TPM's statement")) { $0.isSafe = 2 }
    }

    @Test func anythingElseIsAnError() throws {
        let attestation = try Forgery().made()
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(2_000, soak: 200_000) {
            let bytes = random.mutated(attestation.encoded)
            if let decoded = try? KeyAttestation(decoding: bytes) {
                #expect(decoded.encoded == bytes, "seed \(random.seed)")
            }
            for field in [\KeyAttestation.key, \.attestationKey, \.statement, \.signature] {
                var changed = attestation
                changed[keyPath: field] = random.mutated(attestation[keyPath: field])
                guard changed != attestation else { continue }
                #expect(throws: AttestationError.self, "seed \(random.seed)") { try changed.verified(nonce: nil) }
            }
            let noise = random.bytes(random.int(below: 200))
            #expect(throws: AttestationError.self) { try PublicArea(decoding: noise, of: "noise") }
            #expect(throws: AttestationError.self) { try AttestationSignature(decoding: noise) }
        }
    }
}
