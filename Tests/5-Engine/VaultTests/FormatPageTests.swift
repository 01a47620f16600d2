import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import Items
@testable import Vault

/// What another program needs to write an item store is on the page, and is what this one does.
@Suite struct FormatPageTests {
    private static let page = Result {
        try Repository.text("Documentation/Specify/Formats/ItemStore.md")
    }

    @Test func theStatementsAreThoseOfTheStore() throws {
        let page = try Self.page.get()
        for statement in try #require(Schema.tables[Schema.version]) {
            let lines = statement.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)\n" }
            #expect(page.contains("\n\n" + lines.joined()), "\(statement)")
        }
    }

    /// An attribute as the table has it.
    private struct Line: Hashable {
        var itemClass: String
        var attribute: String
        var kind: String
        var primaryKey: String
        var isFiled: Bool
    }

    @Test func theTableIsThatOfTheAttributes() throws {
        var stored: Set<Line> = []
        let elsewhere: Set<AttributeName> = [
            .accessGroup, .accessible, .accessControl, .synchronizable, .tombstone, .creationDate, .modificationDate,
        ]
        for itemClass in [ItemClass.genericPassword, .internetPassword, .certificate, .key] {
            for name in itemClass.schema.names where !elsewhere.contains(name) {
                let definition = try #require(itemClass.schema[name])
                let key =
                    switch definition.defaultValue {
                    case .number: "0"
                    case .string: "\"\""
                    case .data: "empty"
                    default: "no default"
                    }
                stored.insert(
                    Line(
                        itemClass: itemClass.rawValue, attribute: name.string, kind: "\(definition.kind)",
                        primaryKey: definition.isPrimaryKey ? key : "",
                        isFiled: itemClass.filedAttributes.contains(name)))
            }
        }
        #expect(try table() == stored)
    }

    private func table() throws -> Set<Line> {
        let page = try Self.page.get()
        let start = try #require(page.range(of: "| class | attributes | kind |"))
        var lines: Set<Line> = []
        for line in page[start.lowerBound...].split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2) {
            guard line.hasPrefix("|") else { break }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 5, "\(line)")
            func names(_ cell: String) -> [String] {
                cell.split { " ,".contains($0) }.map { $0.trimmingCharacters(in: ["`"]) }
            }
            for itemClass in cells[0] == "all" ? ["genp", "inet", "cert", "keys"] : names(cells[0]) {
                for attribute in names(cells[1]) {
                    lines.insert(
                        Line(
                            itemClass: itemClass, attribute: attribute, kind: cells[2], primaryKey: cells[3],
                            isFiled: cells[4] == "yes"))
                }
            }
        }
        return lines
    }
}
