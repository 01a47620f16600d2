import Bytes
import Crypto
import Enclave
import Foundation
import KeychainModel
import SecureMemory
import TestSupport
import Testing
import Vault
import VaultInterface

@testable import Keybag
@testable import Sealing

/// The records of a vault behind the code that authenticates them: somebody with the device secret made it. The first
/// byte of an input chooses the record.
struct FuzzRecords {
    private static let classKey = SymmetricKey(data: Data(0..<32))

    private let enclave: SoftwareEnclave
    private let keys: ClassKeys

    init() throws {
        enclave = try SoftwareEnclave()
        keys = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
    }

    private func samples() throws -> [Data] {
        let next = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
        let last = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
        let former = try FormerKeys(of: keys.keybag.identifier).renewed(from: keys, to: next)
            .renewed(from: next, to: last)
        let alwaysKey = try last.classKey(for: .always)
        let metadata = try ItemMetadata(
            accessControlFlags: .userPresence, creationDate: Date(timeIntervalSinceReferenceDate: 1),
            modificationDate: Date(timeIntervalSinceReferenceDate: 2), accessGroup: "TEAM.app",
            attributes: [.service: .string("s"), .account: .data(Data([1, 2])), .comment: .data(Data(count: 3))],
            customAttributes: ["stage": "test", "größe": "5"], expiry: .at(Date(timeIntervalSinceReferenceDate: 9)),
            kept: .atMost(3)
        ).encoded()
        let header = SealHeader(
            password: .init(memoryKiB: 8, passes: 1, salt: Data(count: 16)),
            enrolment: .init(check: Data(count: 16), isMixedIn: true), hasValue: true
        ).encoded
        let seal = try FormerSeal(
            keybag: UUID(), group: 7, seal: Data(header) + Data(repeating: 5, count: SealedValue.sealSize)
        ).stored(under: Self.classKey)
        let vault = try memoryVault()
        let backup = try vault.makeBackup(
            .password(
                stretched: SecretBytes(String(repeating: "k", count: 32)), salt: .init(repeating: 1, count: 16),
                cost: Argon2Cost(memoryKiB: 8, passes: 1)), as: .owner
        ).bytes
        return [
            Data([0]) + (try keys.keybag.encoded(in: enclave)).dropLast(32),
            Data([1]) + former.encoded(under: alwaysKey).dropLast(32), Data([2]) + metadata, Data([3]) + seal,
            Data([4]) + backup,
        ]
    }

    @Test func fuzzRecords() throws {
        let samples = try samples()
        var run = FuzzRun("records", samples: samples, plain: 5_000, soak: 500_000)
        let report = try run.run { input in
            guard let kind = input.first else { return false }
            let bytes = Data(input.dropFirst())
            switch kind {
            case 0: return try readKeybag(bytes)
            case 1: return try readFormerKeys(bytes)
            case 2: return (try? ItemMetadata(decoding: bytes)) != nil
            case 3: return try readSeal(bytes)
            case 4: return readBackup(bytes)
            default: return false
            }
        }
        #expect(report.accepted >= min(report.tried, samples.count))
    }

    private func readKeybag(_ body: Data) throws -> Bool {
        guard body.count >= 76 else { return false }
        let key = try enclave.deriveKey(
            tangling: nil, salt: Data(body[44..<76]), context: "swift-keychain/v1/keybag")
        let encoded = body + Data(HMAC<SHA256>.authenticationCode(for: body, using: key))
        guard let keybag = try? Keybag(decoding: encoded, in: enclave) else { return false }
        // A class key that was changed opens nothing.
        _ = try? ClassKeys(keybag, in: enclave)
        return true
    }

    private func readFormerKeys(_ body: Data) throws -> Bool {
        guard body.count >= 26 else { return false }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: Self.classKey, info: Data("swift-keychain/v2/former-keys".utf8), outputByteCount: 32)
        let encoded = body + Data(HMAC<SHA256>.authenticationCode(for: body, using: key))
        let name = UUID(uuid: body[10..<26].withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        guard let former = try? FormerKeys(decoding: encoded, of: name, under: Self.classKey) else { return false }
        guard former.encoded(under: Self.classKey) == encoded else {
            throw FuzzFinding("former keys that are not what was read")
        }
        for keybag in former.keybags { _ = try former.key(of: .always, in: keybag, under: keys) }
        return true
    }

    private func readSeal(_ bytes: Data) throws -> Bool {
        guard (try? SealedValue.header(of: bytes)) != nil else { return false }
        guard let former = try? FormerSeal(bytes, under: Self.classKey) else { return false }
        guard try former.stored(under: Self.classKey) == bytes else {
            throw FuzzFinding("a former seal that is not what was read")
        }
        return true
    }

    private func readBackup(_ bytes: Data) -> Bool {
        var rest = bytes[...]
        let reader = try? BackupReader { count in
            defer { rest = rest.dropFirst(count) }
            return Data(rest.prefix(count))
        }
        guard let reader, let key = try? RecoveryKey(stretched: SecretBytes(String(repeating: "k", count: 32))) else {
            return false
        }
        return (try? EmbeddedVault.verify(reader, with: key)) != nil
    }
}
