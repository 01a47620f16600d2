import Foundation
import KeychainModel
import Vault
import VaultInterface

/// Listing every item, per item, against the floor, in alternating rounds.
func measureLists(in vaults: FilledVaults, counts: [Int]) throws {
    for count in counts {
        let vault = try EmbeddedVault.open(at: vaults.path(count))
        let raw = try RawStore(vault: vaults.path(count))
        for values in [false, true] {
            var (engine, floor) = (Samples(.processor), Samples(.processor))
            for _ in 0..<max(5, 100_000 / count) {
                try engine.measure(operations: count) { try list(values: values, count: count, in: vault) }
                try floor.measure(operations: count) {
                    guard try raw.list(values: values) == count else { throw RawStore.Failure(reason: "count") }
                }
            }
            let name = values ? "list-values" : "list"
            emit("\(name).engine.\(count)", engine)
            emit("\(name).floor.\(count)", floor)
        }
    }
}

/// The largest memory that a process needs to list a whole vault; prints KiB.
func measureMemory(in vaults: FilledVaults, count: Int, values: Bool) throws {
    let vault = try EmbeddedVault.open(at: vaults.path(count))
    try find(SampleItems.query(0), in: vault)
    let before = memory("VmHWM")
    try list(values: values, count: count, in: vault)
    let name = values ? "memory-values" : "memory"
    print("\(name).peak.\(count)\t\(memory("VmHWM"))\t\(memory("VmHWM") - before)")
}

private func list(values: Bool, count: Int, in vault: EmbeddedVault) throws {
    let query = ItemQuery(itemClass: .genericPassword)
    let found = try SampleItems.session(vault).perform(CopyItems(query, includingValues: values))
    guard found.count == count else { throw RawStore.Failure(reason: "\(found.count) items instead of \(count)") }
}
