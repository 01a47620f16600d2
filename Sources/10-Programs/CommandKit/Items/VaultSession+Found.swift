import KeychainModel
import VaultInterface

extension VaultSession {
    /// Returns the items that a query finds, without their values, and asks nobody: those that need a person are found
    /// by the owner's tool. None is no error.
    ///
    /// - Parameter report: Takes what else the vault tells of the search, such as damage.
    package func described(
        _ query: ItemQuery, report: (CopyItems.Part) -> Void = { _ in }
    ) throws(VaultError) -> [StoredItem] {
        var query = query
        query.authentication = AuthenticationOptions(interaction: .skip)
        query.reports.formUnion([.guarded, .damage])
        var guarded: [StoredItem] = []
        do throws(VaultError) {
            let found = try perform(CopyItems(query, includingValues: false)) { part in
                if case .guarded(let item) = part { guarded.append(item) } else { report(part) }
            }
            return found + guarded
        } catch .itemNotFound {
            return guarded
        }
    }

    /// Returns the versions of the items that a query finds. None is no error.
    package func versions(_ query: ItemQuery) throws(VaultError) -> [ItemVersion] {
        do throws(VaultError) {
            return try perform(CopyVersions(query))
        } catch .itemNotFound {
            return []
        }
    }
}

extension StoredItem {
    /// What a person knows the item by: its service, server, label or tag; and its account.
    package var names: (name: AttributeText?, account: AttributeText?) {
        let names: [AttributeName] = [.service, .server, .label, .applicationTag]
        return (
            names.lazy.compactMap { attribute($0) }.first.map(AttributeText.init),
            attribute(.account).map(AttributeText.init)
        )
    }
}

extension [StoredItem] {
    /// The names of the items in one sentence, ready for a terminal; the first twenty if there are more.
    package var listed: String {
        let names = prefix(20).map { item in
            [item.names.name, item.names.account].compactMap(\.self).map { "'\($0.forTerminal)'" }
                .joined(separator: " ")
        }
        let others = count > names.count ? ", and \(count - names.count) others" : ""
        return names.sorted().joined(separator: ", ") + others
    }
}
