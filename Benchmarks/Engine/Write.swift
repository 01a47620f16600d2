import Foundation
import KeychainModel
import Vault
import VaultInterface

/// Adding and changing one item at a time, against the floor, in alternating rounds on copies of the
/// filled vaults.
func measureWrites(in vaults: FilledVaults, counts: [Int], rounds: Int) throws {
    let operations = 10
    let scratch = try ScratchVaults(vaults)
    for count in counts {
        let vault = try scratch.copy(count)
        let raw = try RawWriter(vault: try scratch.copyFolder(count, "floor"), count: count)
        var random = FastRandom(seed: 2)
        var next = count
        var (add, insertFloor) = (Samples(.elapsed), Samples(.elapsed))
        var (update, updateFloor) = (Samples(.elapsed), Samples(.elapsed))
        for _ in 0..<rounds {
            let items = (next..<(next + operations)).map(SampleItems.item)
            next += operations
            try add.measure(operations: operations) {
                for item in items { _ = try vault.perform(AddItem(item), as: SampleItems.client) }
            }
            try insertFloor.measure(operations: operations) { for _ in 0..<operations { try raw.insertOne() } }
            let queries = items.map { _ in SampleItems.query(Int.random(in: 0..<count, using: &random)) }
            try update.measure(operations: operations) {
                for query in queries {
                    let changes = ItemChanges(value: Data("a new value of thirty-two bytes.".utf8))
                    _ = try vault.perform(UpdateItems(query, with: changes), as: SampleItems.client)
                }
            }
            try updateFloor.measure(operations: operations) {
                for _ in 0..<operations { try raw.updateOne(&random) }
            }
        }
        emit("add.engine.\(count)", add)
        emit("add.floor.\(count)", insertFloor)
        emit("update.engine.\(count)", update)
        emit("update.floor.\(count)", updateFloor)
    }
}
