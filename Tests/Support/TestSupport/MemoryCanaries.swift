import Access
import Bytes
import Crypto
import Enclave
import Foundation
import Items
import Keybag
import KeychainModel
import Sealing
import SecureMemory
import VaultInterface

/// A vault whose values all contain the same unguessable bytes, with everything else that must not stay in memory.
package struct MemoryCanaries {
    package let folder: TemporaryFolder
    package let passcode = "pass-" + UUID().uuidString
    package let path: String
    private let canary = Array(UUID().uuidString.utf8)
    private let items: Int
    /// File keys for all classes in turn.
    private let fileKeys = (0..<20).map { _ in SymmetricKey(size: .bits256) }

    /// - Parameter path: The path of the vault; nil for a folder of its own.
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

    /// Returns the second half of each secret, computed from the files and the passcode. Not the first half, because
    /// the allocator overwrites the first bytes of freed memory.
    package func secrets() throws -> [(name: String, bytes: [UInt8])] {
        let (keys, passcodeKey) = try unlockedKeys()
        var secrets = [("value", canary), ("passcode", Array(passcode.utf8))]
        secrets.append(("passcode key", passcodeKey.withUnsafeBytes { Array($0) }))
        for name in ProtectionClass.allCases where name.availability == .whileUnlocked {
            for (kind, key) in [("class", try keys.classKey(for: name)), ("metadata", try keys.metadataKey(for: name))]
            {
                secrets.append(("\(kind) key \(name.rawValue)", key.withUnsafeBytes { Array($0) }))
            }
        }
        for fileClass in [FileProtectionClass.complete, .completeUnlessOpen] {
            secrets.append(("key of \(fileClass) files", bytes(of: try keys.fileClassKey(of: fileClass))))
        }
        for (number, key) in fileKeys.enumerated() { secrets.append(("file key \(number)", bytes(of: key))) }
        let itemKeys = try itemKeys(under: keys.classKey(for: .whenUnlocked))
        guard itemKeys.count == items else { throw CanaryError.itemsMissing(found: itemKeys.count) }
        // A sample is enough to find a general leak.
        for (number, key) in itemKeys.prefix(50).enumerated() { secrets.append(("item key \(number)", key)) }
        return secrets.map { ($0.0, Array($0.1.suffix(16))) }
    }

    /// Returns the file keys in the worker's form: class, identifier and wrapped key of each.
    package func wrappedFileKeys() throws -> String {
        let keys = try unlockedKeys().keys
        let file = Data(0..<16)
        let wrapped = try fileKeys.enumerated().map { number, key in
            let fileClass = FileProtectionClass.allCases[number % FileProtectionClass.allCases.count]
            let wrapped =
                fileClass == .completeUnlessOpen
                ? try FileClassKeys.wrap(key, for: file, to: keys.fileAgreementKey().publicKey)
                : try FileClassKeys.wrap(key, for: file, under: keys.fileClassKey(of: fileClass))
            return "\(fileClass.rawValue):\(file.base64EncodedString()):\(wrapped.base64EncodedString())"
        }
        return wrapped.joined(separator: " ")
    }

    private func unlockedKeys() throws -> (keys: ClassKeys, passcodeKey: LockedBytes) {
        let enclave = try SoftwareEnclave(decoding: contents("device-secret"))
        let keybag = try Keybag(decoding: contents("keybag"), in: enclave)
        guard let protection = keybag.passcode else { throw CanaryError.noPasscode }
        let passcodeKey = try protection.key(for: SecretBytes(passcode), in: enclave)
        let keys = try ClassKeys(keybag, in: enclave)
        try keys.unlock(with: passcodeKey)
        return (keys, passcodeKey)
    }

    private func bytes(of key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

    private func itemKeys(under classKey: SymmetricKey) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        let store = try ItemStore.open(
            path: ItemStoreFile.path(inVault: path), key: ItemStoreFile.key(ofVault: path))
        try store.read(for: AccessGate.authorize(.removeUnreadable)) { reader in
            try reader.forEachRow { row in
                let key = try AES.KeyWrap.unwrap(row.get().value.seal.prefix(40), using: classKey)
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
