import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// No byte of any file of a vault gives away what is stored in it.
@Suite struct CanaryTests {
    /// Part of every attribute, group and value in this test.
    private static let canary = "Kq7VwZ3canaryXb9Tm"

    /// The ways in which text usually leaks.
    private static let disguises: [String: [UInt8]] = {
        let bytes = Array(canary.utf8)
        var forms: [String: [UInt8]] = [
            "UTF-8": bytes,
            "UTF-16LE": bytes.flatMap { [$0, 0] },
            "UTF-16BE": bytes.flatMap { [0, $0] },
            "hex": Array(bytes.map { String(format: "%02x", $0) }.joined().utf8),
            "HEX": Array(bytes.map { String(format: "%02X", $0) }.joined().utf8),
        ]
        for shift in 0..<3 {
            // Of the encoding at this alignment, the part that the surrounding bytes cannot change.
            let text = Array(Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString().utf8)
            forms["base64 +\(shift)"] = Array(text[(shift == 0 ? 0 : 4)..<((shift + bytes.count) / 3 * 4)])
        }
        return forms
    }()

    /// The disguises in which the canary is found in `bytes`.
    private func leaks(in bytes: Data) -> [String] {
        Self.disguises.filter { bytes.range(of: Data($0.value)) != nil }.map(\.key).sorted()
    }

    @Test func theSearchFindsWhatItLooksFor() {
        let text = "before \(Self.canary) after"
        #expect(leaks(in: Data(text.utf8)) == ["UTF-8"])
        #expect(leaks(in: text.data(using: .utf16LittleEndian) ?? Data()).contains("UTF-16LE"))
        #expect(leaks(in: text.data(using: .utf16BigEndian) ?? Data()).contains("UTF-16BE"))
        for shift in 0..<3 {
            let encoded = Data((String(repeating: "x", count: shift) + Self.canary + "yz").utf8).base64EncodedData()
            #expect(leaks(in: encoded) == ["base64 +\(shift)"])
        }
        #expect(leaks(in: Data(text.utf8.map { String(format: "%02x", $0) }.joined().utf8)) == ["hex"])
        #expect(leaks(in: Data(text.utf8.map { String(format: "%02X", $0) }.joined().utf8)) == ["HEX"])
        #expect(leaks(in: Data("Kq7VwZ3canary".utf8)).isEmpty)
    }

    @Test func filesGiveNothingAway() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        do {
            let vault = try EmbeddedVault.open(at: path)
            try fill(vault)
            let open = try FolderContents(of: path)
            let store = try ItemStoreFile.name(inVault: path)
            #expect(Set(open.entries.keys).isSuperset(of: [store, store + "-wal", store + "-shm"]))
            for (name, entry) in open.entries { #expect(leaks(in: entry.bytes ?? Data()) == [], "in \(name)") }
        }
        let closed = try FolderContents(of: path)
        let store = try ItemStoreFile.name(inVault: path)
        #expect(!closed.entries.keys.contains(store + "-wal"))
        #expect(closed[store].map { $0.count > 300_000 } == true)
        for (name, entry) in closed.entries { #expect(leaks(in: entry.bytes ?? Data()) == [], "in \(name)") }
    }

    private func fill(_ vault: EmbeddedVault) throws {
        let canary = Self.canary
        let client = Client(identifier: "c", accessGroups: ["TEAM.\(canary)", "x\(canary)"])
        for number in 0..<1_000 {
            let itemClass = ItemClass.stored[number % 4]
            let text = String(repeating: "-", count: number % 3) + canary + "\(number)"
            var item = NewItem(itemClass: itemClass, attributes: [.label: .string(text)], value: Data(text.utf8))
            let names: [AttributeName] =
                switch itemClass {
                case .genericPassword: [.service, .account, .comment, .itemDescription, .generic]
                case .internetPassword: [.server, .account, .comment, .path, .securityDomain]
                case .certificate: [.issuer, .serialNumber, .subject, .publicKeyHash]
                case .key, .identity: [.applicationLabel, .applicationTag]
                }
            for name in names { item.attributes[name] = number % 2 == 0 ? .string(text) : .data(Data(text.utf8)) }
            item.accessGroup = client.accessGroups[number / 4 % 2]
            item.isSynchronizable = number % 5 == 0
            let stored = try vault.add(item, as: client)
            let query = ItemQuery(
                itemClass: itemClass, synchronizable: .any, identifier: stored.identifier)
            switch number % 7 {
            case 0: _ = try vault.delete(query, as: client)
            case 1:
                _ = try vault.update(
                    query, with: ItemChanges(attributes: [.label: .string(canary)], value: Data(canary.utf8)),
                    as: client)
            case 2:
                _ = try vault.update(query, with: ItemChanges(accessGroup: client.accessGroups[0]), as: client)
            default: break
            }
        }
    }
}
