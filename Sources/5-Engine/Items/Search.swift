import FoundationEssentials
import Sealing
import SystemSQLite

/// Runs one search: chooses the statement that visits the fewest rows, and filters its results.
struct Search {
    let database: SQLConnection
    let keybag: UUID?
    let search: ItemSearch
    let includingCiphertext: Bool

    func run(_ body: (ItemRow) throws -> Bool) throws {
        switch search.seek {
        case .primaryKey(let digest):
            _ = try visit(Self.byPrimaryKey, body) { try $0.bind(digest, at: 1) }
        case .terms(let terms):
            guard let rarest = try rarest(of: terms) else { return }
            _ = try visit(Self.byTerm, requiring: terms, body) { try $0.bind(rarest, at: 1) }
        case .filed(let terms):
            for term in terms {
                guard try visit(Self.byTerm, body, binding: { try $0.bind(term, at: 1) }) else { return }
            }
        case .everything:
            _ = try visit(Self.all, body) { _ in }
        }
    }

    // Each row includes the keybag, so that rows and their keybag are read at the same moment.
    private static let selection = "SELECT \(ItemRow.columns), vault.keybag FROM "
    private static let byPrimaryKey = selection + "item JOIN vault ON vault.id = 1 WHERE pk = ?"
    private static let byTerm =
        selection + "term JOIN item ON item.id = term.item JOIN vault ON vault.id = 1 WHERE term.term = ?"
    private static let all = selection + "item JOIN vault ON vault.id = 1 ORDER BY item.id"
    private static let keybagColumn: Int32 = 11

    /// Returns false if `body` ended the search.
    private func visit(
        _ sql: String, requiring terms: [Int64] = [], _ body: (ItemRow) throws -> Bool,
        binding bind: (SQLStatement) throws -> Void
    ) throws -> Bool {
        let statement = try database.statement(sql)
        defer { statement.reset() }
        try bind(statement)
        var isFirst = true
        while try statement.step() {
            if isFirst {
                isFirst = false
                let owner = statement.withBlob(Self.keybagColumn) { UUID(bytes: $0) } ?? nil
                guard keybag == nil || owner == keybag else { throw StoreError.otherKeybag }
            }
            let binding: RowBinding
            do {
                binding = try ItemRow.binding(statement)
            } catch {
                guard let report = search.reportMalformed else { throw error }
                report(error)
                continue
            }
            guard search.accepts(binding), terms.allSatisfy({ binding.terms.contains($0) }) else { continue }
            let row = try ItemRow(statement, binding: binding, includingCiphertext: includingCiphertext)
            guard try body(row) else { return false }
        }
        if isFirst, let keybag, try Schema.keybagIdentifier(in: database) != keybag { throw StoreError.otherKeybag }
        return true
    }

    /// Returns the term with the fewest rows. Counts only as far as needed to compare.
    private func rarest(of terms: [Int64]) throws -> Int64? {
        guard terms.count > 1 else { return terms.first }
        var best: (term: Int64, count: Int64)?
        for term in terms {
            let statement = try database.statement(
                "SELECT count(*) FROM (SELECT 1 FROM term WHERE term = ? LIMIT 1000)")
            defer { statement.reset() }
            try statement.bind(term, at: 1)
            let count = try statement.step() ? statement.integer(0) ?? 0 : 0
            if count < best?.count ?? .max { best = (term, count) }
            if count <= 1 { break }
        }
        return best?.term
    }
}
