import Crypto
import Enclave
import Foundation
import Items
import Keybag
import KeychainModel
import SecureMemory
import TestSupport
import Testing
import Vault

/// What a process that was unlocked, read everything and was locked again still has in its memory.
@Suite(.serialized) struct SoakMemoryTests {
    private static let items = TestScale.count(100, soak: 1000)

    /// A vault whose values all have the same unguessable bytes in them.
    private struct Place {
        let folder: TemporaryFolder
        let passcode = "pass-" + UUID().uuidString
        let canary = Array(UUID().uuidString.utf8)
        var path: String { folder.path(of: "vault") }

        init() throws {
            folder = try TemporaryFolder()
            let vault = try EmbeddedVault.open(at: path)
            try vault.setPasscode(SecretBytes(passcode), options: .cheapest, as: .owner)
            for number in 0..<SoakMemoryTests.items {
                var item = NewItem.password("s", "\(number)", "")
                item.value = Data(Array("the value of number \(number) is in here: ".utf8) + canary)
                _ = try vault.add(item, as: .app)
            }
        }

        /// The second half of each secret, worked out from the files and the passcode: the allocator writes
        /// over the first bytes of memory that is given back.
        func secrets() throws -> [(name: String, bytes: [UInt8])] {
            let enclave = try SoftwareEnclave(
                decoding: Data(contentsOf: URL(fileURLWithPath: path + "/device-secret")))
            let keybag = try Keybag(
                decoding: Data(contentsOf: URL(fileURLWithPath: path + "/keybag")), in: enclave)
            let protection = try #require(keybag.passcode)
            let passcodeKey = try protection.key(for: SecretBytes(passcode))
            var secrets = [("value", canary), ("passcode", Array(passcode.utf8))]
            secrets.append(("passcode key", passcodeKey.withUnsafeBytes { Array($0) }))
            let keys = try ClassKeys(keybag, in: enclave)
            try keys.unlock(with: passcodeKey)
            for name in ProtectionClass.allCases where name.availability == .whileUnlocked {
                secrets.append(
                    ("class key \(name.rawValue)", try keys.classKey(for: name).withUnsafeBytes { Array($0) }))
                secrets.append(
                    ("metadata key \(name.rawValue)", try keys.metadataKey(for: name).withUnsafeBytes { Array($0) }))
            }
            let classKey = try keys.classKey(for: .whenUnlocked)
            let store = ItemStore.open(path: path + "/items.db")
            var itemKeys = 0
            try store.read { reader in
                try reader.forEachRow { row in
                    let seal = try row.get().valueSeal
                    let key = try AES.KeyWrap.unwrap(seal.prefix(40), using: classKey)
                    // A sample is enough to notice a way in which they stay.
                    if itemKeys < 50 { secrets.append(("item key \(itemKeys)", key.withUnsafeBytes { Array($0) })) }
                    itemKeys += 1
                }
            }
            #expect(itemKeys == SoakMemoryTests.items)
            return secrets.map { ($0.0, Array($0.1.suffix(16))) }
        }
    }

    @Test func nothingIsLeftAfterTheLock() throws {
        for round in 0..<TestScale.count(1, soak: 20) {
            let place = try Place()
            let secrets = try place.secrets()
            let worker = try Worker(["forget", place.path])
            worker.send(Array(place.passcode.utf8) + [0x0A])
            #expect(worker.readLine() == "unlocked \(Self.items)")
            let before = try worker.memory.search(for: secrets)
            // The search finds what is there: the keys of an unlocked vault are.
            #expect(before.found.contains { $0.needle == "class key ak" }, "round \(round): \(before)")
            worker.cue()
            #expect(worker.readLine() == "locked")
            let after = try worker.memory.search(for: secrets)
            #expect(after.found.isEmpty, "round \(round): \(after.found)")
            #expect(after.bytes > 1_000_000)
            worker.cue()
            #expect(worker.wait() == 0)
        }
    }
}
