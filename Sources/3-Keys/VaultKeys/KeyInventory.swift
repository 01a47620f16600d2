import FoundationEssentials
import KeychainModel
import Synchronization
import VaultInterface

/// The keys in the keychain that can be seen.
package struct KeyInventory {
    package private(set) var pairs: [KeyPair] = []
    /// Whether there are keys that the lock hides.
    package private(set) var isLocked = false
    /// How many keys cannot be read, and are left out.
    package private(set) var damagedCount = 0

    private struct Name: Hashable {
        let hash: Data
        let group: String
    }

    /// Where in ``pairs`` each is: a search for every half would take seconds for some thousand keys.
    private var places: [Name: Int] = [:]

    /// Looks at every key. Asks for no person; whether the passcode is asked for depends on the vault.
    ///
    /// - Parameters:
    ///   - group: Nil for every group.
    ///   - includingSecretKeys: Whether keys of AES and HMAC are among ``pairs``, as private halves alone.
    package init(
        of session: VaultSession, group: String? = nil, includingSecretKeys: Bool = false
    ) throws(VaultError) {
        let search = Search(session: session, group: group)
        let publicHalves = try search.halves(.public, includingValues: true)
        let privateHalves = try search.halves(.private, includingValues: false)
        isLocked = publicHalves.isLocked || privateHalves.isLocked
        if includingSecretKeys {
            let secretKeys = try search.halves(.secret, includingValues: false)
            isLocked = isLocked || secretKeys.isLocked
            for item in secretKeys.items {
                update(item) { $0.privateHalf = .found(item) }
            }
        }
        // The record of a key of the enclave is no secret, and has the public key and the access control.
        let hasRecords = privateHalves.items.contains { $0.isEnclaveKey }
        let records = hasRecords ? try search.halves(.private, inEnclave: true, includingValues: true).items : []
        for item in privateHalves.items + records {
            update(item) { $0.privateHalf = .found(item) }
        }
        for item in publicHalves.items {
            update(item) { $0.publicHalf = item }
        }
        for index in pairs.indices where !pairs[index].hasPrivateHalf {
            pairs[index].privateHalf = try search.unseenPrivateHalf(of: pairs[index])
        }
        damagedCount = search.damaged.reasons.withLock { $0.count }
    }

    private mutating func update(_ item: StoredItem, _ change: (inout KeyPair) -> Void) {
        guard case .data(let hash) = item.attributes[.applicationLabel] else { return }
        let name = Name(hash: hash, group: item.accessGroup)
        if let index = places[name] {
            change(&pairs[index])
        } else {
            var pair = KeyPair(hash: hash, group: item.accessGroup)
            change(&pair)
            places[name] = pairs.count
            pairs.append(pair)
        }
    }

    /// Returns the keys with this label, or else with this tag, or else with a hash that begins so.
    package func pairs(named name: String) -> [KeyPair] {
        for attribute in [\KeyPair.label, \KeyPair.tag] {
            let found = pairs.filter { $0[keyPath: attribute]?.matches(.string(name), as: .blob) == true }
            if !found.isEmpty { return found }
        }
        guard name.count >= KeyPair.shownHashLength else { return [] }
        return pairs.filter { $0.hexadecimalHash.hasPrefix(name.lowercased()) }
    }

    /// Searches of one vault.
    private struct Search {
        let session: VaultSession
        let group: String?
        let damaged = Damage()

        final class Damage: Sendable {
            /// One reason for each item, even if it is found several times.
            let reasons = Mutex<Set<String>>([])
        }

        enum Half: Int64 {
            case `public` = 0
            case `private` = 1
            case secret = 2
        }

        private func query(_ half: Half) -> ItemQuery {
            var query = ItemQuery(
                itemClass: .key, attributes: [.keyClass: .number(half.rawValue)], accessGroup: group,
                synchronizable: .any, authentication: AuthenticationOptions(interaction: .skip))
            query.reports = .damage
            return query
        }

        /// Returns the items of one half that the lock does not hide.
        func halves(
            _ half: Half, inEnclave: Bool = false, includingValues: Bool
        ) throws(VaultError) -> (items: [StoredItem], isLocked: Bool) {
            var query = query(half)
            if inEnclave { query.attributes[.tokenID] = .string(EnclaveKeyRecord.tokenID) }
            if let items = try items(query, includingValues) { return (items, false) }
            // A locked item makes the whole search fail, so each class is searched by itself.
            var found: [StoredItem] = []
            for protection in ProtectionClass.allCases {
                query.attributes[.accessible] = .string(protection.rawValue)
                found += try items(query, includingValues) ?? []
            }
            return (found, true)
        }

        /// Returns nil if the lock hides one of the items.
        private func items(_ query: ItemQuery, _ includingValues: Bool) throws(VaultError) -> [StoredItem]? {
            do {
                return try session.perform(CopyItems(query, includingValues: includingValues)) { part in
                    if case .damage(let reason) = part { damaged.reasons.withLock { _ = $0.insert(reason) } }
                }
            } catch {
                switch error {
                case .itemNotFound: return []
                case .interactionNotAllowed: return nil
                default: throw error
                }
            }
        }

        /// Returns what is known about the private half of a pair that a search did not find.
        func unseenPrivateHalf(of pair: KeyPair) throws(VaultError) -> KeyPair.PrivateHalf {
            var withheld: AccessControl?
            var query = query(.private)
            query.attributes[.applicationLabel] = .data(pair.hash)
            query.accessGroup = pair.group
            query.reports.insert(.withheld)
            do {
                let found = try session.perform(CopyItems(query, includingValues: false)) { part in
                    switch part {
                    case .withheld(let item): withheld = item.accessControl
                    case .damage(let reason): damaged.reasons.withLock { _ = $0.insert(reason) }
                    case .item, .expired, .locked, .guarded: break
                    }
                }
                return found.first.map(KeyPair.PrivateHalf.found) ?? .absent
            } catch {
                switch error {
                case .itemNotFound:
                    return withheld.map(KeyPair.PrivateHalf.withheld) ?? .absent
                case .interactionNotAllowed: return .locked
                default: throw error
                }
            }
        }
    }
}
