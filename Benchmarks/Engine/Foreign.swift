import Access
import Foundation
import Glibc
import KeychainModel
import Vault
import VaultInterface
import VaultService

/// Whether a program can measure at a daemon what groups hold that are not its own: looks by turns for a service that
/// sixty items of another group have, and for one that no item has. The answer to both is that nothing was found.
///
/// The lines have both medians in microseconds, and a two-sided Mann-Whitney test of whether one of the two tends to
/// take longer: U, z, and p. Without a difference, p is below 0.01 in one of a hundred runs.
func measureForeign(in vaults: FilledVaults, lookups: Int) throws {
    let scratch = try ScratchVaults(vaults)
    let home = try scratch.copyFolder(100, "foreign")
    do {
        let vault = try EmbeddedVault.open(at: home)
        defer { vault.close() }
        for number in 0..<60 {
            var item = SampleItems.item(number)
            item.attributes[.service] = .string("held")
            item.accessGroup = "foreign"
            _ = try vault.perform(AddItem(item), as: SampleItems.owner)
        }
    }
    let folder = home + "-run"
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let rules = #"{"version": 1, "rules": [{"executable": "\#(own)", "groups": ["benchmark"], "rights": ["list"]}]}"#
    try Data(rules.utf8).write(to: URL(fileURLWithPath: folder + "/rules"))
    chmod(folder + "/rules", 0o600)
    let socket = folder + "/socket"
    let daemon = try start(
        (own as NSString).deletingLastPathComponent + "/keychaind",
        ["--socket", socket, "--home", home, "--entitlements", folder + "/rules", "--rate", "0", "--log", "error"])
    defer { daemon.terminate() }
    let session = SampleItems.session(try eventually { try RemoteVault(socket: socket) })

    func time(_ service: String) throws -> Double {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service)], accessGroup: "benchmark", limit: 1)
        let begin = Clock.elapsed.seconds()
        do {
            _ = try session.perform(CopyItems(query, includingValues: true))
        } catch VaultError.itemNotFound {
            return (Clock.elapsed.seconds() - begin) * 1e6
        }
        throw RawStore.Failure(reason: "an item of another group was found")
    }
    for _ in 0..<lookups / 10 { _ = try (time("held"), time("free")) }
    var (held, free): ([Double], [Double]) = ([], [])
    var random = FastRandom(seed: UInt64.random(in: 0 ... .max))
    for _ in 0..<lookups / 2 {
        // What follows what is left to chance.
        if Bool.random(using: &random) {
            held.append(try time("held"))
            free.append(try time("free"))
        } else {
            free.append(try time("free"))
            held.append(try time("held"))
        }
    }
    let test = MannWhitney(held, free)
    for (name, number) in [
        ("held", median(held)), ("free", median(free)), ("u", test.u), ("z", test.z), ("p", test.p),
    ] {
        print("foreign.\(name)", number, separator: "\t")
    }
}

private func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// The two-sided test of H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two Random Variables is
/// Stochastically Larger than the Other" (1947): normal approximation with the correction for ties, and without one for
/// continuity.
struct MannWhitney {
    /// In how many pairs the first number is the larger one; ties count half.
    let u: Double
    let z: Double
    let p: Double

    init(_ first: [Double], _ second: [Double]) {
        let all = (first.map { ($0, true) } + second.map { ($0, false) }).sorted { $0.0 < $1.0 }
        let (n1, n2, n) = (Double(first.count), Double(second.count), Double(all.count))
        var (rankSum, ties, index) = (0.0, 0.0, 0)
        while index < all.count {
            var end = index
            while end < all.count, all[end].0 == all[index].0 { end += 1 }
            let rank = Double(index + 1 + end) / 2
            rankSum += rank * Double(all[index..<end].count { $0.1 })
            let count = Double(end - index)
            ties += count * count * count - count
            index = end
        }
        u = rankSum - n1 * (n1 + 1) / 2
        let variance = n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1)))
        z = variance > 0 ? (u - n1 * n2 / 2) / variance.squareRoot() : 0
        p = erfc(abs(z) / 2.0.squareRoot())
    }
}
