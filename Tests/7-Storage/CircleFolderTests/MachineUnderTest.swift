import Access
import Bytes
import CircleFolder
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A machine with a vault and its own copy of the circle's folder.
final class MachineUnderTest {
    let name: String
    let folder: String
    private(set) var vault: EmbeddedVault
    private(set) var carrier: FolderCarrier
    private let now: @Sendable () -> Date

    static let group = "TEAM.app"

    convenience init(_ name: String, folder: String, now: @escaping @Sendable () -> Date = { Date() }) throws {
        try self.init(name, folder: folder, vault: memoryVault(now: now), now: now)
    }

    init(
        _ name: String, folder: String, vault: EmbeddedVault, now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        (self.name, self.folder, self.vault, self.now) = (name, folder, vault, now)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        carrier = FolderCarrier(vault, as: .owner, folder: folder, now: now)
    }

    /// Begins with a new carrier, as a process that was killed and started again.
    func restartCarrier() {
        // The lock goes with the last reference.
        carrier = FolderCarrier(vault, as: .owner, folder: folder + "/../nowhere")
        carrier = FolderCarrier(vault, as: .owner, folder: folder, now: now)
    }

    func close() {
        vault.close()
        carrier = FolderCarrier(vault, as: .owner, folder: folder + "/../nowhere")
    }

    func open(_ vault: EmbeddedVault) {
        self.vault = vault
        restartCarrier()
    }

    func change(_ change: ChangeCircle.Change) throws -> CircleChanged {
        try vault.perform(ChangeCircle(change), as: .owner)
    }

    func status() throws -> CircleStatus { try vault.perform(ReadCircle(), as: .owner) }

    func put(_ account: String, _ value: String) throws {
        var item = NewItem.password("service", account, value)
        item.isSynchronizable = true
        _ = try vault.put(item, as: .app)
    }

    func contents() throws -> [String: String] {
        let query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        var contents: [String: String] = [:]
        for item in try vault.items(query) {
            guard case .string(let account)? = item.attributes[.account] else { continue }
            contents[account] = String(decoding: item.value ?? Data(), as: UTF8.self)
        }
        return contents
    }

    /// Makes a circle of the machines; `carry` brings what one of them wrote to all others.
    static func makeCircle(_ machines: [MachineUnderTest], carry: () throws -> Void) throws {
        let first = try #require(machines.first)
        _ = try first.change(.create(name: first.name, groups: [group], location: "folder:\(first.folder)"))
        for other in machines.dropFirst() {
            let secret = try #require(try first.change(.invite(count: 1, seconds: 86_400, rights: 15)).secret)
            _ = try other.change(
                .join(secret: secret, name: other.name, location: "folder:\(other.folder)", groups: [group]))
            for _ in 0..<3 {
                for machine in [first, other] { try machine.carrier.synchronize() }
                try carry()
            }
            try first.carrier.synchronize()
            let request = try #require(try first.status().requests.first)
            _ = try first.change(.approve(request: request.identifier, groups: nil))
            try first.carrier.synchronize()
            try carry()
            try other.carrier.synchronize()
            try carry()
        }
    }

    /// The paths of all files below the folder but those of its own machine-local names.
    func files() -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".seg") || $0.hasSuffix(".req") }.sorted()
    }
}
