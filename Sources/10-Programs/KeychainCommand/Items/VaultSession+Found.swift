import KeychainModel
import VaultInterface

extension VaultSession {
    /// Returns the items that a query finds, without their values, and asks nobody: those that need a person are found
    /// by the owner's tool. None is no error.
    ///
    /// - Parameter report: Takes what else the vault tells of the search, such as damage.
    func described(
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
    func versions(_ query: ItemQuery) throws(VaultError) -> [ItemVersion] {
        do throws(VaultError) {
            return try perform(CopyVersions(query))
        } catch .itemNotFound {
            return []
        }
    }
}
