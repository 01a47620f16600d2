import Audit
import Foundation
import Vault

/// What an audit log costs who reads one item with its value: none, one written at once, and one written
/// by a thread behind the caller's back.
func measureAudit(in vaults: FilledVaults, count: Int, rounds: Int) throws {
    let scratch = try ScratchVaults(vaults)
    let sides: [(name: String, vault: EmbeddedVault)] = [
        ("off", try EmbeddedVault.open(at: scratch.copyFolder(count, "off"))),
        (
            "direct",
            try EmbeddedVault.open(
                at: scratch.copyFolder(count, "direct"), surroundings: VaultSurroundings(audit: AuditLog()))
        ),
        (
            "buffered",
            try EmbeddedVault.open(
                at: scratch.copyFolder(count, "buffered"), surroundings: VaultSurroundings(audit: BufferedAudit()))
        ),
    ]
    var samples = sides.map { _ in Samples(.elapsed) }
    var random = FastRandom(seed: 1)
    for _ in 0..<rounds {
        let queries = (0..<100).map { _ in SampleItems.query(Int.random(in: 0..<count, using: &random)) }
        for (index, side) in sides.enumerated() {
            try samples[index].measure(operations: queries.count) {
                for query in queries { try find(query, in: side.vault) }
            }
        }
    }
    for (index, side) in sides.enumerated() {
        side.vault.close()
        emit("audit.\(side.name).\(count)", samples[index])
    }
}
