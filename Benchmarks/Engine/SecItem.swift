import Foundation
import KeychainServices
import ProcessVault
import VaultInterface

/// Apple's functions on a vault on disk, as another program's lookups and stores are measured: a lookup
/// returns the value, a store replaces the value of an item that exists.
func measureSecItem(in vaults: FilledVaults, count: Int, rounds: Int) throws {
    let scratch = try ScratchVaults(vaults)
    ProcessVault.replace(with: FixedSession(SampleItems.session(try scratch.copy(count))))
    let operations = 20
    var random = FastRandom(seed: UInt64(count))
    var (lookups, stores) = (Samples(.elapsed), Samples(.elapsed))
    for _ in 0..<rounds {
        let numbers = (0..<operations).map { _ in Int.random(in: 0..<count, using: &random) }
        let queries = numbers.map(SampleItems.dictionary)
        try lookups.measure(operations: operations) { for query in queries { try find(query) } }
        try stores.measure(operations: operations) {
            for number in numbers {
                let identity = NSDictionary(dictionary: SampleItems.primaryKey(number))
                let changes = [kSecValueData: SampleItems.value(1)] as NSDictionary
                guard SecItemUpdate(identity, changes) == errSecSuccess else {
                    throw RawStore.Failure(reason: "the item cannot be changed")
                }
            }
        }
    }
    emit("secitem.find.\(count)", lookups)
    emit("secitem.store.\(count)", stores)
}
