import Audit
import Bytes
import Foundation
import Vault
import VaultInterface

/// What an audit log costs who reads one item with its value: none, one written at once, and one written
/// by a thread behind the caller's back; and the same in a vault with a passcode, whose log is anchored.
func measureAudit(in vaults: FilledVaults, count: Int, rounds: Int) throws {
    let scratch = try ScratchVaults(vaults)
    let plain: [(name: String, vault: EmbeddedVault)] = [
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
    let passcode = try SecretBytes("correct horse battery staple")
    let options = PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 1))
    let anchored: [(name: String, vault: EmbeddedVault)] = [
        ("passcode.off", try EmbeddedVault.open(at: scratch.copyFolder(count, "passcode-off"))),
        (
            "passcode.direct",
            try EmbeddedVault.open(
                at: scratch.copyFolder(count, "passcode-direct"), surroundings: VaultSurroundings(audit: AuditLog()))
        ),
        (
            "passcode.buffered",
            try EmbeddedVault.open(
                at: scratch.copyFolder(count, "passcode-buffered"),
                surroundings: VaultSurroundings(audit: BufferedAudit()))
        ),
    ]
    for side in anchored { try side.vault.perform(SetPasscode(passcode, options: options), as: SampleItems.owner) }
    let sides = plain + anchored
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
    for (index, side) in sides.enumerated() { emit("audit.\(side.name).\(count)", samples[index]) }
    // An unlocking checks the records since the last one: as many as were just read, and then none.
    for side in anchored.dropFirst() {
        for name in ["unlock-after-reads", "unlock-again"] {
            var unlocking = Samples(.elapsed)
            try unlocking.measure(operations: 1) {
                try side.vault.perform(UnlockVault(with: passcode), as: SampleItems.owner)
            }
            emit("audit.\(side.name).\(name).\(count)", unlocking)
        }
    }
    for side in sides { side.vault.close() }
}
