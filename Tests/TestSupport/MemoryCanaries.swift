import Crypto
import Enclave
import Foundation
import Items
import Keybag
import KeychainModel
import Sealing
import SecureMemory
import Vault

/// A vault whose values all have the same unguessable bytes in them, and everything about it that must not be
/// left in memory.
package struct MemoryCanaries {
    package let folder: TemporaryFolder
    package let passcode = "pass-" + UUID().uuidString
    package let path: String
    private let canary = Array(UUID().uuidString.utf8)
    private let items: Int

    /// - Parameter path: Where the vault is; nil for a folder of its own.
    package init(items: Int, path: String? = nil) throws {
        folder = try TemporaryFolder()
        self.path = path ?? folder.path(of: "vault")
        self.items = items
    }

    /// Sets the passcode and stores the items.
    package func fill(_ vault: any Vault) throws {
        try vault.setPasscode(SecretBytes(passcode), options: .cheapest, as: .owner)
        for number in 0..<items {
            var item = NewItem.password("s", "\(number)", "")
            item.value = Data(Array("the value of number \(number) is in here: ".utf8) + canary)
            _ = try vault.add(item, as: .app)
        }
    }

    /// The second half of each secret, worked out from the files and the passcode: the allocator writes over
    /// the first bytes of memory that is given back.
    package func secrets() throws -> [(name: String, bytes: [UInt8])] {
        let enclave = try SoftwareEnclave(decoding: contents("device-secret"))
        let keybag = try Keybag(decoding: contents("keybag"), in: enclave)
        guard let protection = keybag.passcode else { throw CanaryError.noPasscode }
        let passcodeKey = try protection.key(for: SecretBytes(passcode), in: enclave)
        var secrets = [("value", canary), ("passcode", Array(passcode.utf8))]
        secrets.append(("passcode key", passcodeKey.withUnsafeBytes { Array($0) }))
        let keys = try ClassKeys(keybag, in: enclave)
        try keys.unlock(with: passcodeKey)
        for name in ProtectionClass.allCases where name.availability == .whileUnlocked {
            for (kind, key) in [("class", try keys.classKey(for: name)), ("metadata", try keys.metadataKey(for: name))]
            {
                secrets.append(("\(kind) key \(name.rawValue)", key.withUnsafeBytes { Array($0) }))
            }
        }
        let itemKeys = try itemKeys(under: keys.classKey(for: .whenUnlocked))
        guard itemKeys.count == items else { throw CanaryError.itemsMissing(found: itemKeys.count) }
        // A sample is enough to notice a way in which they stay.
        for (number, key) in itemKeys.prefix(50).enumerated() { secrets.append(("item key \(number)", key)) }
        return secrets.map { ($0.0, Array($0.1.suffix(16))) }
    }

    private func itemKeys(under classKey: SymmetricKey) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        try ItemStore.open(path: path + "/items.db").read { reader in
            try reader.forEachRow { row in
                let key = try AES.KeyWrap.unwrap(row.get().valueSeal.prefix(40), using: classKey)
                keys.append(key.withUnsafeBytes { Array($0) })
            }
        }
        return keys
    }

    private func contents(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }
}

package enum CanaryError: Error {
    case noPasscode
    case itemsMissing(found: Int)
}
