import Foundation
import Vault

// Measures the vault engine against the least it could cost; `Benchmarks/run.sh` calls it and makes the
// table.
//
// Each line of output is a name, the median and the best of all rounds in microseconds per operation
// (for memory: the peak and its growth in KiB), separated by tabs.

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    report(
        "usage: VaultBenchmark fill|find|audit|write|circle|list|secitem|keys|tpm|daemon|sizes|unlock|passcode|load|floods|foreign|memory|memory-values|files|fields|passwords|database|cipher-database|key-derivation|conversion|profile FOLDER COUNT..."
    )
    exit(64)
}
let vaults = FilledVaults(folder: arguments[2])
let counts = arguments.dropFirst(3).compactMap { Int($0) }

switch arguments[1] {
case "fill": try vaults.fill(counts)
case "find": try measureFind(in: vaults, counts: counts, rounds: 300)
case "audit": for count in counts { try measureAudit(in: vaults, count: count, rounds: 200) }
case "write": try measureWrites(in: vaults, counts: counts, rounds: 60)
case "circle": for count in counts { try measureCircle(in: arguments[2], count: count) }
case "list": try measureLists(in: vaults, counts: counts)
case "secitem": for count in counts { try measureSecItem(in: vaults, count: count, rounds: 20) }
case "keys": try measureKeys(rounds: 100)
case "tpm": for rounds in counts { try measureTPM(in: vaults.folder, rounds: rounds) }
case "memory": for count in counts { try measureMemory(in: vaults, count: count, values: false) }
case "memory-values": for count in counts { try measureMemory(in: vaults, count: count, values: true) }
case "files": for count in counts { try measureFiles(in: arguments[2], mebibytes: count, rounds: 9) }
case "fields": try measureFields(in: arguments[2], bytes: counts, rounds: 9)
case "passwords": try measurePasswords(rounds: 9)
case "database" where arguments.count == 6:
    // FOLDER ROUNDS-LIBRARY ROWS CACHE-KIB
    try measureDatabase(in: arguments[2], rounds: arguments[3], rows: counts[0], cache: counts[1])
case "cipher-database" where arguments.count == 6:
    try measureDatabase(
        in: arguments[2], rounds: arguments[3], rows: counts[0], cache: counts[1], isCipher: true)
case "key-derivation": try measureKeyDerivation(rounds: 9)
case "conversion" where arguments.count == 4: try measureConversion(in: arguments[2], of: arguments[3])
case "unlock": for count in counts { try measureUnlock(in: vaults, count: count, rounds: 10) }
case "passcode": for count in counts { try measurePasscodeChange(in: vaults, count: count, rounds: 40) }
case "daemon": for count in counts { try measureDaemon(in: vaults, count: count, rounds: 10) }
case "sizes": try measureSizes(in: arguments[2], counts: counts, rounds: 5)
case "load": for seconds in counts where try !measureLoad(in: vaults, seconds: seconds) { exit(1) }
case "floods": for seconds in counts where try !measureFloods(in: vaults, seconds: seconds) { exit(1) }
case "flood": Flood(rawValue: arguments[3])?.begin(on: arguments[2])
case "foreign": for lookups in counts { try measureForeign(in: vaults, lookups: lookups) }
case "attack" where arguments.last == "prepare": try Attack.prepare(arguments[2])
case "attack": try Attack(rawValue: arguments[3])?.begin(on: arguments[2])
case "echo": try serveEchoes(at: arguments[2])
case "profile":
    // Nothing but finds, for a profiler.
    var random = FastRandom(seed: 3)
    for count in counts {
        let vault = try EmbeddedVault.open(at: vaults.path(count))
        for _ in 0..<100_000 { try find(SampleItems.query(Int.random(in: 0..<count, using: &random)), in: vault) }
    }
default:
    report("no such measurement: \(arguments[1])")
    exit(64)
}
