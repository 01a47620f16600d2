import KeychainModel
import StatusCodes
import VaultInterface

/// Finds versions of the item that a name means.
extension PasswordSearch {
    /// The query for the versions of the one item that the search finds, or, if there is none, of deleted items with
    /// its name.
    func versionQuery(in session: VaultSession) throws -> ItemQuery {
        guard let item = try oneIfAny(in: session) else { return try query(in: session) }
        var chosen = ItemQuery(item: item)
        chosen.authentication = query.authentication
        chosen.includesExpired = query.includesExpired
        return chosen
    }

    /// Returns a version with its value.
    func version(_ number: Int64, in session: VaultSession) throws -> StoredItem {
        let query = try versionQuery(in: session)
        do {
            return try session.perform(CopyVersion(query, version: number))
        } catch {
            guard error == .itemNotFound else { throw error }
            throw Self.noVersion(number)
        }
    }

    /// The error for a version that is not there.
    ///
    /// - Parameter number: Nil for any former version.
    static func noVersion(_ number: Int64?, adding addition: String = "") -> Failure {
        let what = number.map { "there is no version \($0)" } ?? "there is no former version"
        return Failure(
            status: errSecItemNotFound,
            "\(what) of this item: `keychain history` shows those that there are\(addition)")
    }
}
