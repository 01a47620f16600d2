import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Chooses between items with the same name by the beginning of the identifier.
struct ItemIdentifier: ParsableArguments {
    @Option(
        name: .customLong("id"),
        help: ArgumentHelp(
            "Which of several items of this name, deleted ones included: the beginning of its identifier, as `keychain "
                + "history` shows it.",
            valueName: "identifier"))
    var text: String?

    static let any = {
        var identifier = ItemIdentifier()
        identifier.text = nil
        return identifier
    }()

    /// The beginning in lower case, without hyphens; nil if none was given.
    var prefix: String? { text?.lowercased().replacing("-", with: "") }

    func validate() throws {
        guard prefix.map({ !$0.isEmpty && $0.count <= 32 && $0.allSatisfy(\.isHexDigit) }) ?? true else {
            throw ValidationError("--id takes the beginning of an identifier: digits and letters from a to f")
        }
    }
}

extension UUID {
    /// The digits in lower case, without hyphens.
    var text: String { uuidString.lowercased().replacing("-", with: "") }

    /// As much as tells the items of one name apart.
    var beginning: String { String(text.prefix(8)) }
}

/// Finds versions of the item that a name means.
extension PasswordSearch {
    /// The query for the versions of the one item that the search finds, or, if there is none, of deleted items with
    /// its name.
    ///
    /// - Parameter chosen: Chooses between the items with this name, deleted ones included.
    func versionQuery(in session: VaultSession, _ chosen: ItemIdentifier = .any) throws -> ItemQuery {
        if let prefix = chosen.prefix { return try query(of: identifier(beginning: prefix, in: session), in: session) }
        guard let item = try oneIfAny(in: session) else { return try query(in: session) }
        var chosen = ItemQuery(item: item)
        chosen.authentication = query.authentication
        chosen.includesExpired = query.includesExpired
        return chosen
    }

    /// The query for the versions of the item with this identifier, if it has the name.
    func query(of identifier: UUID, in session: VaultSession) throws -> ItemQuery {
        var chosen = try query(in: session)
        chosen.identifier = identifier
        return chosen
    }

    /// The identifier of the one item with this name, deleted ones included, that begins so.
    private func identifier(beginning prefix: String, in session: VaultSession) throws -> UUID {
        var query = try query(in: session)
        query.includesExpired = true
        var found: Set<UUID> = []
        do {
            for version in try session.perform(CopyVersions(query)) { found.insert(version.item.identifier) }
        } catch {
            guard error == .itemNotFound else { throw error }
            let error = try notFound(in: session, remedy: "--group")
            throw error
        }
        let matching = found.filter { $0.text.hasPrefix(prefix) }
        guard let identifier = matching.first else {
            throw Failure(
                status: errSecItemNotFound,
                "no item of this name has an identifier that begins with \(prefix): `keychain history` shows them")
        }
        guard matching.count == 1 else {
            throw Failure(
                status: errSecParam,
                "\(matching.count) items of this name have an identifier that begins with \(prefix): give more of it")
        }
        return identifier
    }

    /// Returns a version with its value.
    func version(_ number: Int64, in session: VaultSession, _ chosen: ItemIdentifier = .any) throws -> StoredItem {
        let query = try versionQuery(in: session, chosen)
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
