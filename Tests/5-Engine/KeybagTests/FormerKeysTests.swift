import Crypto
import Enclave
import Foundation
import KeychainModel
import SecureMemory
import TestSupport
import Testing

@testable import Keybag

/// What a vault keeps of its class keys when it renews them.
@Suite struct FormerKeysTests {
    private static let keybag = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let formerKeybag = UUID(
        uuid: (17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32))
    /// The vector of Documentation/Specify/Formats/Vault.md, which `cryptography` for Python computed.
    private static let vector =
        "534b464f524d455200010102030405060708090a0b0c0d0e0f1000011112131415161718191a1b1c1d1e1f200201ba40"
        + "ec71b5bb5875c8543ba3385c1454b23b9ffb48963013d7180d329451fc78659182137d03b0e9038bd1fb0849af3cdf34"
        + "5b399852d1cda9f6411a0003838d088d2985010c114f88ee89f31ab9b49f837d75517d42016ddcbd40bffe4b9f443611"
        + "009630040cd473cd647c17a1f20fdb"

    private static func key(_ first: UInt8) -> SymmetricKey { SymmetricKey(data: Data(first..<first + 32)) }

    /// Class keys that are all the same bytes.
    private static func keys(_ identifier: UUID, _ first: UInt8) throws -> ClassKeys {
        var table = ClassTable<LockedBytes>()
        for protection in ProtectionClass.allCases {
            table[protection] = try key(first).withUnsafeBytes { try LockedBytes(copying: $0) }
        }
        let enclave = try SoftwareEnclave()
        let keybag = try Keybag.restored(identifier, table, in: enclave, counter: nil, hasPlainStore: false)
        return try ClassKeys(keybag, in: enclave)
    }

    private static func bytes(_ text: String) -> Data {
        Data(
            stride(from: 0, to: text.utf8.count, by: 2).map { offset in
                UInt8(text.dropFirst(offset).prefix(2), radix: 16) ?? 0
            })
    }

    @Test func theVectorOpens() throws {
        let keys = try Self.keys(Self.keybag, 0)
        let encoded = Self.bytes(Self.vector)
        let former = try FormerKeys(decoding: encoded, of: Self.keybag, under: Self.key(0))
        #expect(former.keybags == [Self.formerKeybag])
        #expect(try former.key(of: .whenUnlocked, in: Self.formerKeybag, under: keys) == Self.key(0x20))
        #expect(try former.key(of: .always, in: Self.formerKeybag, under: keys) == Self.key(0x40))
        #expect(try former.key(of: .afterFirstUnlock, in: Self.formerKeybag, under: keys) == nil)
        #expect(try former.key(of: .always, in: Self.keybag, under: keys) == nil)
        #expect(former.encoded(under: Self.key(0)) == encoded)
        #expect(throws: KeybagError.authenticationFailed) {
            try FormerKeys(decoding: encoded, of: Self.formerKeybag, under: Self.key(0))
        }
    }

    @Test func aRenewalKeepsAllThatWereBefore() throws {
        var generations = [try Self.keys(UUID(), 1)]
        var former = FormerKeys(of: generations[0].keybag.identifier)
        for first in 2...5 {
            let next = try Self.keys(UUID(), UInt8(first))
            former = try former.renewed(from: generations[0], to: next)
            generations.insert(next, at: 0)
        }
        #expect(former.keybags == generations.dropFirst().map(\.keybag.identifier))
        for (number, generation) in generations.enumerated().dropFirst() {
            let kept = try former.key(of: .whenUnlocked, in: generation.keybag.identifier, under: generations[0])
            #expect(kept == Self.key(UInt8(5 - number)))
            // The keys of before do not open what was wrapped under those of now.
            #expect(
                try former.key(of: .whenUnlocked, in: generation.keybag.identifier, under: generation) == nil)
        }
    }

    @Test func changedBytesAreRefused() throws {
        var random = SeededGenerator()
        let encoded = Self.bytes(Self.vector)
        for round in 0..<TestScale.count(500, soak: 100_000) {
            let changed = round % 3 == 0 ? random.bytes(random.int(below: 200)) : random.mutated(encoded)
            guard changed != encoded else { continue }
            #expect(throws: KeybagError.self, "seed \(random.seed)") {
                try FormerKeys(decoding: changed, of: Self.keybag, under: Self.key(0))
            }
        }
    }

    /// Damage behind the check: somebody with the key of the 'always' class made it.
    @Test func damageBehindTheCheckIsRefusedOrRead() throws {
        var random = SeededGenerator()
        let encoded = Self.bytes(Self.vector).dropLast(32)
        let authentication = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: Self.key(0), info: Data("swift-keychain/v2/former-keys".utf8), outputByteCount: 32)
        for _ in 0..<TestScale.count(1_000, soak: 100_000) {
            var changed = encoded.prefix(26) + random.mutated(Data(encoded.dropFirst(26)))
            changed += Data(HMAC<SHA256>.authenticationCode(for: changed, using: authentication))
            guard let read = try? FormerKeys(decoding: changed, of: Self.keybag, under: Self.key(0)) else { continue }
            _ = read.encoded(under: Self.key(0))
        }
    }
}
