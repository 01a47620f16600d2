import Access
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import Synchronization
import Vault
import VaultInterface

extension Client {
    package static let app = Client(identifier: "app", accessGroups: ["TEAM.app", "TEAM.shared"])
    package static let owner = Client(identifier: "owner", accessGroups: ["owner", "*"])
}

extension PasscodeOptions {
    /// The lowest cost of a passcode, so that tests are fast.
    package static let cheapest = PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 1))
}

/// Returns a clock that advances one second at each reading. Later events get later dates, independent of the machine's
/// clock.
package func tickingClock() -> @Sendable () -> Date {
    let ticks = Ticks()
    return { ticks.next() }
}

private final class Ticks: Sendable {
    private let date = Mutex(Date(timeIntervalSinceReferenceDate: 800_000_000))

    func next() -> Date {
        date.withLock { date in
            date += 1
            return date
        }
    }
}

/// Makes a vault in memory with new keys.
///
/// - Parameter person: Whom the vault asks; nil for nobody.
package func memoryVault(
    person: (any Authenticator)? = nil, now: @escaping @Sendable () -> Date = { Date() }
) throws -> EmbeddedVault {
    let enclave = try SoftwareEnclave()
    // Tests of items with a password take what costs least.
    return try EmbeddedVault.inMemory(
        keys: ClassKeys(Keybag.generate(in: enclave), in: enclave),
        surroundings: VaultSurroundings(
            authenticator: person, now: now, passwordCost: Argon2id.Cost(memoryKiB: 8, passes: 1)))
}

extension NewItem {
    package static func password(_ service: String, _ account: String, _ value: String) -> NewItem {
        NewItem(
            itemClass: .genericPassword,
            attributes: [.service: .string(service), .account: .string(account)], value: Data(value.utf8))
    }
}

extension ItemQuery {
    package static func password(_ service: String, _ account: String? = nil, limit: Int? = 1) -> ItemQuery {
        var query = ItemQuery(itemClass: .genericPassword, attributes: [.service: .string(service)], limit: limit)
        if let account { query.attributes[.account] = .string(account) }
        return query
    }
}

extension Vault {
    /// Returns the results of `copy`; empty instead of ``VaultError/itemNotFound``.
    package func items(
        _ query: ItemQuery, includingValues: Bool = true, as client: Client = .app
    ) throws(VaultError) -> [StoredItem] {
        do {
            return try copy(query, includingValues: includingValues, as: client)
        } catch {
            guard error == .itemNotFound else { throw error }
            return []
        }
    }

    /// Returns all items of all classes that `client` may see, by identifier.
    package func allItems(as client: Client = .owner) throws(VaultError) -> [UUID: StoredItem] {
        var all: [UUID: StoredItem] = [:]
        for itemClass in ItemClass.stored {
            var query = ItemQuery(itemClass: itemClass, synchronizable: .any)
            query.includesExpired = true
            for item in try items(query, as: client) {
                all[item.identifier] = item
            }
        }
        return all
    }
}
