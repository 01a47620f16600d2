import Access
import Foundation
import KeychainModel
import Vault
import VaultInterface

/// Operations over many items at once, in the vault of this process and through a daemon: whether each ends, and how
/// its time grows with the number of items and their size.
///
/// Each line of output is a name `sizes.OPERATION.ITEMS.BYTES.PLACE`, and the median and the best of all rounds in
/// microseconds. An operation that is refused has its name end in `refused`.
///
/// - Parameter counts: The numbers of items.
func measureSizes(in folder: String, counts: [Int], rounds: Int) throws {
    for count in counts {
        for bytes in [50, 500, 5_000] {
            let home = "\(folder)/sizes-\(getpid())-\(count)-\(bytes)"
            defer {
                for ending in ["", "-run", "-served"] { try? FileManager.default.removeItem(atPath: home + ending) }
            }
            try measure(EmbeddedVault.open(at: home), count, bytes, "embedded", rounds)
            let daemon = try BenchmarkDaemon(home + "-served", run: home + "-run")
            defer { daemon.end() }
            try measure(daemon.vault, count, bytes, "served", rounds)
        }
    }
}

private func measure(_ vault: any Vault, _ count: Int, _ bytes: Int, _ place: String, _ rounds: Int) throws {
    let session = VaultSession(vault: vault, client: Client(identifier: "benchmark", accessGroups: ["benchmark"]))
    func item(_ number: Int, _ service: String) -> StoredItem {
        var item = StoredItem(
            itemClass: .genericPassword, identifier: UUID(),
            attributes: [
                .service: .string(service), .account: .string("account \(number)"),
                .label: .string(String(repeating: "l", count: bytes)),
            ], accessGroup: "benchmark", accessControl: AccessControl(protection: .afterFirstUnlock),
            isSynchronizable: false, creationDate: Date(), modificationDate: Date(), value: Data(count: 32))
        item.kept = .atMost(2)
        return item
    }
    func receive(_ service: String) throws {
        for start in stride(from: 0, to: count, by: ReceiveItems.most) {
            let items = (start..<min(count, start + ReceiveItems.most)).map { item($0, service) }
            _ = try session.perform(ReceiveItems(items, accessGroup: "benchmark", keepsIdentity: false))
        }
    }
    func report(_ name: String, _ body: () throws -> Void) throws {
        var samples = Samples(.elapsed)
        var ending = ""
        for _ in 0..<rounds {
            try samples.measure(operations: 1) {
                do { try body() } catch VaultError.invalidRequest { ending = ".refused" }
            }
        }
        emit("sizes.\(name).\(count).\(bytes).\(place)\(ending)", samples)
    }
    let all = ItemQuery(itemClass: .genericPassword, attributes: [.service: .string("many")], limit: nil)
    let one = ItemQuery(
        itemClass: .genericPassword, attributes: [.service: .string("many"), .account: .string("account 0")])
    var services = 0
    try receive("many")
    try report("receive") {
        services += 1
        try receive("more \(services)")
    }
    try report("list") { _ = try session.perform(CopyItems(all, includingValues: false)) }
    try report("read") { _ = try session.perform(CopyItems(all, includingValues: true)) }
    try report("update") {
        _ = try session.perform(UpdateItems(all, with: ItemChanges(attributes: [.comment: .string("\(services)")])))
    }
    try report("changes") { _ = try session.perform(ChangesSince(0)) }
    // The first version becomes a former one.
    _ = try session.perform(UpdateItems(one, with: ItemChanges(value: Data(count: 16))))
    let former = try session.perform(CopyVersions(one)).map(\.item.version).min() ?? 1
    try report("version") { _ = try session.perform(CopyVersion(one, version: former)) }
    try report("restore") { _ = try session.perform(RestoreVersion(one, version: nil)) }
    try report("delete") {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string("more \(services)")], limit: nil)
        services -= 1
        _ = try session.perform(DeleteItems(query))
    }
}
