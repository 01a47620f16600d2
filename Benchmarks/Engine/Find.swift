import Foundation
import KeychainModel
import KeychainServices
import ProcessVault
import Vault
import VaultInterface

/// Finding one item with its value among many, in alternating rounds: through the engine, through
/// `SecItemCopyMatching`, and as the floor.
func measureFind(in vaults: FilledVaults, counts: [Int], rounds: Int) throws {
    struct Size {
        let count: Int
        let vault: EmbeddedVault
        let raw: RawStore
        var engine = Samples(.processor)
        var secItem = Samples(.processor)
        var floor = Samples(.processor)
        var row = Samples(.processor)
    }

    // Short rounds, most of which end before another process gets the processor.
    let operations = 100
    var random = FastRandom(seed: 1)
    var sizes = try counts.map {
        Size(count: $0, vault: try EmbeddedVault.open(at: vaults.path($0)), raw: try RawStore(vault: vaults.path($0)))
    }
    for count in counts { try warm(RawFile(vault: vaults.path(count)).path) }
    for round in -20..<rounds {
        for index in sizes.indices {
            // The first rounds warm the caches up.
            if round == 0 {
                sizes[index] = Size(count: sizes[index].count, vault: sizes[index].vault, raw: sizes[index].raw)
            }
            let (vault, raw) = (sizes[index].vault, sizes[index].raw)
            let numbers = (0..<operations).map { _ in Int.random(in: 0..<sizes[index].count, using: &random) }

            let queries = numbers.map(SampleItems.query)
            try sizes[index].engine.measure(operations: operations) {
                for query in queries { try find(query, in: vault) }
            }
            try sizes[index].floor.measure(operations: operations) {
                for _ in 0..<operations { try raw.find(&random, opening: true) }
            }
            ProcessVault.replace(with: FixedSession(SampleItems.session(vault)))
            let dictionaries = numbers.map(SampleItems.dictionary)
            try sizes[index].secItem.measure(operations: operations) {
                for dictionary in dictionaries { try find(dictionary) }
            }
            try sizes[index].row.measure(operations: operations) {
                for _ in 0..<operations { try raw.find(&random, opening: false) }
            }
        }
    }
    for size in sizes {
        emit("find.engine.\(size.count)", size.engine)
        emit("find.secitem.\(size.count)", size.secItem)
        emit("find.floor.\(size.count)", size.floor)
        emit("find.row.\(size.count)", size.row)
    }
}

/// Reads a file once, so that what is measured is the vault and not the disk.
private func warm(_ path: String) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {}
}

func find(_ query: ItemQuery, in vault: EmbeddedVault) throws {
    let found = try SampleItems.session(vault).perform(CopyItems(query, includingValues: true))
    guard found.count == 1, found[0].value?.count == 32 else { throw RawStore.Failure(reason: "wrong item") }
}

func find(_ query: CFDictionary) throws {
    var found: CFTypeRef?
    guard SecItemCopyMatching(query, &found) == errSecSuccess, let value = found as? Data, value.count == 32 else {
        throw RawStore.Failure(reason: "wrong item")
    }
}
