import ArgumentParser
import KeychainModel
import Vault

/// Lists the generic passwords, without their secrets.
struct ListCommand: DocumentedCommand {
    static let summary = "List the passwords in the keychain, without the secrets."
    static let details = """
        One line for each password: service, account and access group, in columns on a terminal and separated \
        by tabs otherwise. Backslashes and control characters are written as escapes. An empty keychain is an \
        empty list; a service without passwords is an error.
        """
    static let examples = [
        Example("Everything", "keychain list"),
        Example("The accounts of one service", "keychain list mail.example.com | cut -f2"),
        Example("With labels and dates", "keychain list --json"),
    ]
    static let configuration: CommandConfiguration = documented("list", aliases: ["ls"])

    @Argument(help: "Only passwords for this service.")
    var service: String?

    @OptionGroup var scope: ItemScope

    @Flag(help: "Print the items, and any error, as JSON.")
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwner()
        let items = try items(in: session)
        if json { return try StandardOutput.write(json: items.map(ItemSummary.init)) }
        let rows = items.map(row).sorted { $0.lexicographicallyPrecedes($1) }
        guard !rows.isEmpty else { return }
        try StandardOutput.write(line: Table(rows).text(aligned: StandardOutput.isTerminal))
    }

    private func items(in session: VaultSession) throws(Failure) -> [StoredItem] {
        var query = ItemQuery(
            itemClass: .genericPassword, accessGroup: scope.group, synchronizable: scope.synchronizableScope)
        if let service { query.attributes[.service] = .string(service) }
        do {
            return try session.vault.copy(query, includingValues: false, as: session.client)
        } catch {
            if error == .itemNotFound, service == nil { return [] }
            throw Failure(error)
        }
    }

    private func row(_ item: StoredItem) -> [String] {
        [
            item.attribute(.service).map { AttributeText($0).forTerminal } ?? "",
            item.attribute(.account).map { AttributeText($0).forTerminal } ?? "",
            item.accessGroup.escapedForTerminal,
        ]
    }
}

/// Rows of text for a terminal or a script.
struct Table {
    private let rows: [[String]]

    init(_ rows: [[String]]) {
        self.rows = rows
    }

    func text(aligned: Bool) -> String {
        guard aligned else { return rows.map { $0.joined(separator: "\t") }.joined(separator: "\n") }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let isLast = column == row.count - 1
                return isLast ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
