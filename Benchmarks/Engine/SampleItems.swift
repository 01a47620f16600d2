import Access
import Foundation
import KeychainModel
import KeychainServices
import Vault
import VaultInterface

/// The items that the filled vaults hold: item `number` has a service that it shares with three others,
/// an account of its own, a label, and a value of 32 bytes.
enum SampleItems {
    static let client = Client(identifier: "benchmark", accessGroups: ["benchmark"])
    static let owner = Client(identifier: "owner", accessGroups: ["*"])

    static func session(_ vault: any Vault) -> VaultSession { VaultSession(vault: vault, client: client) }

    static func service(_ number: Int) -> String { "com.example.service-\(number / 4)" }
    static func account(_ number: Int) -> String { "user-\(number)@example.com" }
    static func value(_ number: Int) -> Data { Data(String(format: "%032d", number).utf8) }

    static func item(_ number: Int) -> NewItem {
        NewItem(
            itemClass: .genericPassword,
            attributes: [
                .service: .string(service(number)), .account: .string(account(number)),
                .label: .string("Password \(number)"),
            ], value: value(number))
    }

    static func query(_ number: Int) -> ItemQuery {
        ItemQuery(
            itemClass: .genericPassword,
            attributes: [.service: .string(service(number)), .account: .string(account(number))], limit: 1)
    }

    /// What finds an item and returns its value.
    static func dictionary(_ number: Int) -> CFDictionary {
        let dictionary = NSMutableDictionary(dictionary: primaryKey(number))
        dictionary[kSecReturnData] = true
        return dictionary
    }

    static func primaryKey(_ number: Int) -> [AnyHashable: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service(number), kSecAttrAccount: account(number)]
    }
}

/// Folders with filled vaults, one for each size, made once.
struct FilledVaults {
    let folder: String

    func path(_ count: Int) -> String { "\(folder)/\(count)" }

    /// Fills one vault in memory-backed storage, where waiting for the disk costs nothing, and keeps a
    /// copy of it at each size.
    func fill(_ counts: [Int]) throws {
        let files = FileManager.default
        let missing = counts.sorted().filter { !files.fileExists(atPath: path($0) + "/complete") }
        guard let largest = missing.last else { return }
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let scratch = "/dev/shm/keychain-benchmark-\(getpid())"
        defer { try? files.removeItem(atPath: scratch) }
        let start = Clock.elapsed.seconds()
        var next = 0
        if let done = counts.filter({ !missing.contains($0) && $0 < missing[0] }).max() {
            try files.copyItem(atPath: path(done), toPath: scratch)
            guard chmod(scratch, 0o700) == 0 else { throw POSIXError(.EPERM) }
            next = done
        }
        for count in missing {
            try fill(scratch, from: next, upTo: count)
            next = count
            try? files.removeItem(atPath: path(count))
            try files.copyItem(atPath: scratch, toPath: path(count))
            guard chmod(path(count), 0o700) == 0 else { throw POSIXError(.EPERM) }
            _ = files.createFile(atPath: path(count) + "/complete", contents: nil)
        }
        report("filled \(largest) items in \(Int(Clock.elapsed.seconds() - start)) s")
    }

    /// Opens and closes the vault, so that its write-ahead log is empty when it is copied.
    private func fill(_ path: String, from first: Int, upTo count: Int) throws {
        let vault = try EmbeddedVault.open(at: path)
        for number in first..<count { _ = try vault.perform(AddItem(SampleItems.item(number)), as: SampleItems.client) }
    }
}

func report(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}
