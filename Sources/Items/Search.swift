import Foundation
import GRDB
import Sealing

/// One search: picks the statement that visits the fewest rows and filters what it yields.
struct Search {
    let database: Database
    let search: ItemSearch
    let includingCiphertext: Bool

    func run(_ body: (ItemRow) throws -> Bool) throws {
        switch search.seek {
        case .primaryKey(let digest):
            _ = try visit("SELECT \(ItemRow.columns) FROM item WHERE pk = ?", [digest], body)
        case .terms(let terms):
            guard let rarest = try rarest(of: terms) else { return }
            _ = try visit(Self.byTerm, [rarest], requiring: terms, body)
        case .filed(let terms):
            for term in terms {
                guard try visit(Self.byTerm, [term], body) else { return }
            }
        case .everything:
            _ = try visit("SELECT \(ItemRow.columns) FROM item ORDER BY id", [], body)
        }
    }

    private static let byTerm =
        "SELECT \(ItemRow.columns) FROM term JOIN item ON item.id = term.item WHERE term.term = ?"

    /// Returns false when `body` has had enough.
    private func visit(
        _ sql: String, _ arguments: StatementArguments, requiring terms: [Int64] = [],
        _ body: (ItemRow) throws -> Bool
    ) throws -> Bool {
        let cursor = try Row.fetchCursor(database.cachedStatement(sql: sql), arguments: arguments)
        while let row = try cursor.next() {
            let header = try ItemRow(row, includingCiphertext: false)
            guard search.accepts(header.binding), terms.allSatisfy({ header.binding.terms.contains($0) }) else {
                continue
            }
            guard try body(includingCiphertext ? try ItemRow(row, includingCiphertext: true) : header) else {
                return false
            }
        }
        return true
    }

    /// The term with the fewest rows, counting only as far as needed to tell.
    private func rarest(of terms: [Int64]) throws -> Int64? {
        guard terms.count > 1 else { return terms.first }
        let statement = try database.cachedStatement(
            sql: "SELECT count(*) FROM (SELECT 1 FROM term WHERE term = ? LIMIT 1000)")
        var best: (term: Int64, count: Int)?
        for term in terms {
            let count = try Int.fetchOne(statement, arguments: [term]) ?? 0
            if count < best?.count ?? .max { best = (term, count) }
            if count <= 1 { break }
        }
        return best?.term
    }
}
