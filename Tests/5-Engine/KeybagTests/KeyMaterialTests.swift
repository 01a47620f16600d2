import Bytes
import Crypto
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import TestSupport
import Testing

/// Against vectors made with OpenSSL's implementation (Python `cryptography`, `Argon2id(lanes=1)`).
@Suite struct Argon2idTests {
    @Test(
        arguments: [
            (
                "correct horse", Array(0..<16), 3, 64,
                "a1dc6a57c61d5fb470584e24085ea3216fd369c61bcd5f845745f9cb0ed02fca"
            ),
            (
                "", Array(repeating: 0xFF, count: 16), 1, 8,
                "4b1264a97d610614de1ae5e495c813e571aea9560a3dd6cf4023634ff1f3ed53"
            ),
            (
                "pässwörd", Array("saltsaltsaltsalt".utf8), 2, 1024,
                "8601c0e3a8b32dcfe2e19d48ff1f53b920516a86ad83690f59c769d0c9cf17ee"
            ),
        ] as [(String, [UInt8], UInt32, UInt32, String)])
    func knownAnswers(
        _ password: String, _ salt: [UInt8], _ passes: UInt32, _ memoryKiB: UInt32, _ expected: String
    ) throws {
        let derived = try SecretBytes(password).withUnsafeBytes {
            try Argon2id.derive(from: $0, salt: salt, cost: .init(memoryKiB: memoryKiB, passes: passes))
        }
        let text = derived.withUnsafeBytes { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) } }
        #expect(text.joined() == expected)
    }

    @Test func whatNoMachineCanGiveIsAnError() {
        for cost in [
            Argon2id.Cost(memoryKiB: 7, passes: 1), .init(memoryKiB: .max, passes: 1), .init(memoryKiB: 8, passes: 0),
            .init(memoryKiB: 8, passes: 65),
        ] {
            #expect(!cost.isSensible)
            #expect(throws: SecureMemoryError.self) {
                try Argon2id.derive(
                    from: UnsafeRawBufferPointer(start: nil, count: 0), salt: [UInt8](repeating: 0, count: 16),
                    cost: cost)
            }
        }
    }
}

@Suite struct LockedBytesTests {
    @Test func holdWhatTheyWereGiven() throws {
        let original: [UInt8] = [1, 2, 3, 250]
        let locked = try original.withUnsafeBytes { try LockedBytes(copying: $0) }
        #expect(locked.count == 4)
        #expect(locked.withUnsafeBytes { Array($0) } == original)
        #expect(try locked.isEqual(to: LockedBytes(count: 4) { $0.copyBytes(from: original) }))
        #expect(try !locked.isEqual(to: LockedBytes(count: 4) { $0[0] = 1 }))
        #expect(try !locked.isEqual(to: LockedBytes(count: 5) { $0.copyBytes(from: original) }))
    }

    @Test func startZeroedAndAreNeverEmpty() throws {
        let locked = try LockedBytes(count: 33) { $0[0] = 9 }
        #expect(locked.withUnsafeBytes { Array($0) } == [9] + [UInt8](repeating: 0, count: 32))
        for count in [0, -1] {
            #expect(throws: SecureMemoryError.unavailable(bytes: count)) { try LockedBytes(count: count) { _ in } }
        }
    }

    @Test func whatFillThrowsComesThrough() {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try LockedBytes(count: 8) { _ in throw Refusal() } }
    }

    @Test func randomOnesDiffer() throws {
        let first = try LockedBytes.random(count: 32)
        let second = try LockedBytes.random(count: 32)
        #expect(!first.isEqual(to: second))
    }

    @Test func doNotPrintThemselves() throws {
        let locked = try LockedBytes(count: 6) { $0.copyBytes(from: Array("secret".utf8)) }
        for text in ["\(locked)", String(reflecting: locked)] { #expect(!text.contains("secret")) }
        var dumped = ""
        dump(locked, to: &dumped)
        // Elements have lines of their own; an address may have the digits of "s".
        let lines = dumped.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(!lines.contains("- 115") && !dumped.contains("secret"))
    }

    @Test func comparisonAndWiping() {
        #expect(isEqualInConstantTime(Data([1, 2]), Data([1, 2])))
        #expect(!isEqualInConstantTime(Data([1, 2]), Data([1, 3])))
        #expect(!isEqualInConstantTime(Data([1, 2]), Data([1])))
        #expect(isEqualInConstantTime(Data(), Data()))
        #expect(isEqualInConstantTime(Data([0, 1, 2])[1...], Data([1, 2])))
        var data = Data([1, 2, 3])
        data.wipe()
        #expect(data == Data(count: 3))
        var bytes: [UInt8] = [1, 2, 3]
        bytes.wipe()
        #expect(bytes == [0, 0, 0])
    }
}

@Suite struct EnclaveTests {
    /// RFC 5869 has no vector with this shape; the expected key is what HKDF-SHA256 gives in Python's
    /// cryptography package for the secret 00…1f.
    @Test func derivesWhatOthersDerive() throws {
        let secret = Data((0..<32).map { UInt8(truncatingIfNeeded: $0) })
        var encoded = Data("SKDEVICE".utf8) + [0, 1] + secret
        encoded.append(contentsOf: SHA256.hash(data: encoded).prefix(8))
        let enclave = try SoftwareEnclave(decoding: encoded)
        #expect(enclave.encoded() == encoded)
        let key = try enclave.deriveKey(
            tangling: nil, salt: Data(repeating: 7, count: 32), context: "swift-keychain/v1/keybag")
        #expect(key.withUnsafeBytes { Data($0).map { String(format: "%02x", $0) }.joined() } == Self.alone)
        let input = try LockedBytes(count: 4) { $0.copyBytes(from: [1, 2, 3, 4]) }
        let tangled = try enclave.deriveKey(
            tangling: input, salt: Data(repeating: 7, count: 32), context: "swift-keychain/v1/keybag")
        #expect(tangled.withUnsafeBytes { Data($0).map { String(format: "%02x", $0) }.joined() } == Self.tangled)
    }

    private static let alone = "9c5adcce008ef53901fea86e4edd4eea8d554c236d9c7253832cde8e21d5375c"
    private static let tangled = "a4dae1427258e487ac180a0de51ed0e591c20718fdc0004c36c6d4d3d1dca824"

    @Test func keysDependOnEverything() throws {
        let first = try SoftwareEnclave()
        let second = try SoftwareEnclave()
        let salt = Data(repeating: 1, count: 32)
        let input = try LockedBytes.random(count: 32)
        let keys = [
            try first.deriveKey(tangling: nil, salt: salt, context: "a"),
            try first.deriveKey(tangling: nil, salt: salt, context: "b"),
            try first.deriveKey(tangling: nil, salt: Data(repeating: 2, count: 32), context: "a"),
            try first.deriveKey(tangling: input, salt: salt, context: "a"),
            try second.deriveKey(tangling: nil, salt: salt, context: "a"),
        ].map { $0.withUnsafeBytes { Data($0) } }
        #expect(Set(keys).count == keys.count)
        #expect(try first.deriveKey(tangling: nil, salt: salt, context: "a").withUnsafeBytes { Data($0) } == keys[0])
    }
}

@Suite struct KeybagTests {
    private let enclave: SoftwareEnclave
    private let keybag: Keybag

    init() throws {
        enclave = try SoftwareEnclave()
        keybag = try Keybag.generate(in: enclave, replacing: UUID())
    }

    @Test func comesBackAsItWasStored() throws {
        for replaced in [nil, UUID()] {
            for hasPasscodeClass in [false, true] {
                var keybag = try Keybag.generate(in: enclave, replacing: replaced)
                if hasPasscodeClass { try keybag.generateKey(for: .whenPasscodeSetThisDeviceOnly, in: enclave) }
                let encoded = try keybag.encoded(in: enclave)
                #expect(encoded.count == 77 + 41 * (hasPasscodeClass ? 7 : 6) + 2 + 12 + 2 + 8 + 32)
                #expect(try Keybag(decoding: encoded, in: enclave) == keybag)
            }
        }
    }

    @Test func theNumberOfTheStoresLastChangeNeverGoesDown() throws {
        var keybag = keybag
        for (number, known) in [(7, 7), (3, 7), (UInt64.max, UInt64.max)] as [(UInt64, UInt64)] {
            keybag = keybag.knowing(storeSequence: number)
            #expect(keybag.storeSequence == known)
            #expect(try Keybag(decoding: keybag.encoded(in: enclave), in: enclave) == keybag)
        }
    }

    @Test func everyBitIsAuthenticated() throws {
        let encoded = try keybag.encoded(in: enclave)
        for place in encoded.indices {
            var changed = encoded
            changed[place] ^= 1
            #expect(throws: KeybagError.self, "byte \(place)") { try Keybag(decoding: changed, in: enclave) }
        }
        for count in 0..<encoded.count {
            #expect(throws: KeybagError.self) { try Keybag(decoding: encoded.prefix(count), in: enclave) }
        }
        #expect(throws: KeybagError.self) { try Keybag(decoding: encoded + [0], in: enclave) }
        #expect(throws: KeybagError.authenticationFailed) { try Keybag(decoding: encoded, in: SoftwareEnclave()) }
    }

    @Test func laterVersionsAndOtherEnclavesAreNamed() throws {
        var encoded = try keybag.encoded(in: enclave)
        encoded[9] = 6
        #expect(throws: KeybagError.unknownVersion(6)) { try Keybag(decoding: encoded, in: enclave) }
        encoded[9] = 5
        encoded[10] = 2
        #expect(throws: KeybagError.otherEnclave(stored: 2)) { try Keybag(decoding: encoded, in: enclave) }
    }

    @Test func classKeysAreIndependent() throws {
        let keys = try ProtectionClass.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }.map {
            try keybag.unwrapKey(for: $0, in: enclave).withUnsafeBytes { Data($0) }
        }
        #expect(Set(keys).count == 6)
        #expect(throws: KeybagError.noClassKey(.whenPasscodeSetThisDeviceOnly)) {
            try keybag.unwrapKey(for: .whenPasscodeSetThisDeviceOnly, in: enclave)
        }
        var changed = keybag
        changed.destroyKey(for: .always)
        #expect(throws: KeybagError.noClassKey(.always)) { try ClassKeys(changed, in: enclave) }
    }
}
