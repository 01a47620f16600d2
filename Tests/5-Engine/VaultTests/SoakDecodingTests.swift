import Crypto
import Enclave
import Foundation
import Keybag
import KeychainModel
import Sealing
import TestSupport
import Testing

/// The decoders of everything the vault reads get bytes they were not made for: they answer with an
/// error or with what was encoded, and nothing else.
@Suite struct SoakDecodingTests {
    private static let rounds = TestScale.count(300, soak: 10_000)

    @Test func deviceSecrets() throws {
        var random = SeededGenerator()
        let original = try SoftwareEnclave().encoded()
        for _ in 0..<Self.rounds {
            for bytes in [random.bytes(random.int(below: 80)), random.mutated(original)] where bytes != original {
                #expect(throws: EnclaveError.self, "seed \(random.seed)") { try SoftwareEnclave(decoding: bytes) }
            }
        }
    }

    @Test func keybags() throws {
        var random = SeededGenerator()
        let enclave = try SoftwareEnclave()
        let original = try Keybag.generate(in: enclave).encoded(in: enclave)
        for _ in 0..<Self.rounds {
            var headed = random.bytes(random.int(below: 500))
            headed.replaceSubrange(0..<min(10, headed.count), with: original.prefix(10))
            for bytes in [random.bytes(random.int(below: 500)), headed, random.mutated(original)]
            where bytes != original {
                #expect(throws: KeybagError.self, "seed \(random.seed)") { try Keybag(decoding: bytes, in: enclave) }
            }
        }
    }

    @Test func publicKeysForFiles() throws {
        var random = SeededGenerator()
        let (keybag, key) = (UUID(), SymmetricKey(size: .bits256))
        let original = FileAgreementRecord(keybag: keybag, publicKey: random.bytes(32)).encoded(under: key)
        for _ in 0..<Self.rounds {
            for bytes in [random.bytes(random.int(below: 200)), random.mutated(original)] where bytes != original {
                #expect(throws: KeybagError.self, "seed \(random.seed)") {
                    try FileAgreementRecord(decoding: bytes, of: keybag, under: key)
                }
            }
        }
    }

    @Test func wrappedFileKeys() throws {
        var random = SeededGenerator()
        let file = random.bytes(16)
        let (key, agreementKey) = (SymmetricKey(size: .bits256), FileClassKeys.PrivateKey())
        let wrapped = try FileClassKeys.wrap(SymmetricKey(size: .bits256), for: file, under: key)
        let agreed = try FileClassKeys.wrap(SymmetricKey(size: .bits256), for: file, to: agreementKey.publicKey)
        for _ in 0..<Self.rounds {
            for bytes in [random.bytes(random.int(below: 100)), random.mutated(wrapped)] where bytes != wrapped {
                #expect(FileClassKeys.unwrap(bytes, for: file, under: key) == nil, "seed \(random.seed)")
            }
            for bytes in [random.bytes(random.int(below: 100)), random.mutated(agreed)] where bytes != agreed {
                #expect(FileClassKeys.unwrap(bytes, for: file, with: agreementKey) == nil, "seed \(random.seed)")
            }
        }
    }

    @Test func attributesComeBack() throws {
        var random = SeededGenerator()
        for _ in 0..<Self.rounds {
            let metadata = random.metadata()
            let encoded = Data(try metadata.encoded())
            #expect(try ItemMetadata(decoding: encoded) == metadata, "seed \(random.seed)")
            // A slice whose indices do not start at zero.
            #expect(try ItemMetadata(decoding: (Data([1, 2]) + encoded)[2...]) == metadata, "seed \(random.seed)")
            for count in 0..<min(encoded.count, 100) {
                #expect(throws: SealingError.self) { try ItemMetadata(decoding: encoded.dropLast(count + 1)) }
            }
        }
    }

    @Test func damagedAttributes() throws {
        var random = SeededGenerator()
        for _ in 0..<Self.rounds {
            let original = Data(try random.metadata().encoded())
            for bytes in [random.bytes(random.int(below: 200)), random.mutated(original)] {
                let decoded: ItemMetadata
                do {
                    decoded = try ItemMetadata(decoding: bytes)
                } catch {
                    continue
                }
                // What decodes is a value like any other. Compared as bytes, since a date may be NaN.
                let encoded = try decoded.encoded()
                #expect(try ItemMetadata(decoding: Data(encoded)).encoded() == encoded, "seed \(random.seed)")
            }
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func metadata() -> ItemMetadata {
        var attributes: ItemAttributes = [:]
        for _ in 0..<int(below: 12) {
            attributes[AttributeName(code: UInt32(truncatingIfNeeded: next()))] = attributeValue()
        }
        return ItemMetadata(
            accessControlFlags: int(below: 2) == 0 ? nil : AccessControl.Flags(rawValue: next()).intersection(.known),
            creationDate: date(), modificationDate: date(), accessGroup: string(), attributes: attributes,
            customAttributes: customAttributes(), expiry: int(below: 3) == 0 ? .at(date()) : .never,
            kept: int(below: 3) == 0 ? .atMost(int(below: KeptVersions.largest + 1)) : .vaultDefault)
    }

    private mutating func customAttributes() -> CustomAttributes {
        var attributes: CustomAttributes = [:]
        for _ in 0..<[0, 0, 1, 5][int(below: 4)] { attributes["a" + string()] = string() }
        return attributes
    }

    private mutating func attributeValue() -> AttributeValue {
        switch int(below: 5) {
        case 0: .string(string())
        case 1: .data(bytes(int(below: 200)))
        case 2: .number([0, -1, .min, .max, Int64(truncatingIfNeeded: next())][int(below: 5)])
        case 3: .real([0, -0.5, .infinity, .greatestFiniteMagnitude, Double(int(below: 1_000_000)) / 7][int(below: 5)])
        default: .date(date())
        }
    }

    private mutating func date() -> Date {
        Date(timeIntervalSinceReferenceDate: Double(Int32(truncatingIfNeeded: next())) / 8)
    }

    private mutating func string() -> String {
        let pool = Array("aZ0 .\u{0}ß語🔑e\u{301}\u{1F468}\u{200D}\u{1F469}\u{FFFD}\u{10FFFF}")
        return String((0..<int(below: 40)).map { _ in pool[int(below: pool.count)] })
    }
}
