import DatabaseFiles
import Foundation
import GRDB
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// Databases with GRDB's functions and orders of texts in their indexes.
@Suite struct TextFunctionTests {
    private static let orders = [
        "swiftCompare", "swiftCaseInsensitiveCompare", "swiftLocalizedCaseInsensitiveCompare",
        "swiftLocalizedCompare", "swiftLocalizedStandardCompare",
    ]
    private static let functions = [
        "swiftCapitalizedString", "swiftLowercaseString", "swiftUppercaseString", "swiftLocalizedCapitalizedString",
        "swiftLocalizedLowercaseString", "swiftLocalizedUppercaseString",
    ]
    private static let names = [
        "Zoe", "zoe", "\u{c4}pfel", "A\u{308}pfel", "apfel", "Stra\u{df}e", "STRASSE", "note 10", "note 9",
        "\u{130}stanbul", "o'neill",
        "\u{1F600}", "two words", "",
    ]

    private func makePlain(_ world: DatabaseUnderTest, _ orders: [String], _ functions: [String]) throws {
        let queue = try DatabaseQueue(path: world.path)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE person (name)")
            for (number, order) in orders.enumerated() {
                try db.execute(sql: "CREATE INDEX o\(number) ON person (name COLLATE \(order))")
            }
            for (number, function) in functions.enumerated() {
                try db.execute(sql: "CREATE INDEX f\(number) ON person (\(function)(name))")
            }
            for name in Self.names { try db.execute(sql: "INSERT INTO person VALUES (?)", arguments: [name]) }
            try db.execute(
                sql:
                    "INSERT INTO person VALUES (x'4142'), (x'410042'), (x'FF'), (x''), (7), (1.5), (NULL), (CAST(x'610062' AS TEXT))"
            )
        }
        try queue.close()
    }

    /// GRDB's own functions find the indexes as they have to be after each copy.
    @Test func copiesHaveThemFromFoundation() throws {
        let world = try DatabaseUnderTest()
        try makePlain(world, Self.orders, Self.functions)
        try world.keychain.run {
            func check(_ database: some DatabaseReader) throws {
                try database.read { db in
                    try Notes.check(db)
                    for order in Self.orders {
                        let sorted = "SELECT quote(name) FROM person ORDER BY name COLLATE \(order)"
                        let (byIndex, byItself) = (
                            sorted, sorted.replacing("FROM person", with: "FROM person NOT INDEXED")
                        )
                        #expect(try String.fetchAll(db, sql: byIndex) == String.fetchAll(db, sql: byItself))
                    }
                }
            }
            try world.file.encrypt()
            #expect(try world.file.problems() == [])
            try world.file.changeKey()
            let database = try ProtectedDatabase(path: world.path)
            try check(database)
            try database.close()
            try world.file.decrypt()
            try check(try DatabaseQueue(path: world.path))
        }
    }

    /// A program without GRDB has those of the standard library.
    @Test func theStandardLibrarysNeedNoFoundation() throws {
        let world = try DatabaseUnderTest()
        try makePlain(world, ["swiftCompare"], ["swiftLowercaseString", "swiftUppercaseString"])
        try world.keychain.run {
            let file = ProtectedDatabaseFile(path: world.path, preparing: TextFunctions.add)
            try file.encrypt()
            #expect(try file.problems() == [])
            let database = try ProtectedDatabase(path: world.path)
            try database.read(Notes.check)
            try database.close()
        }
    }

    @Test(
        arguments: orders.dropFirst()
            + functions.filter { !["swiftLowercaseString", "swiftUppercaseString"].contains($0) })
    func othersAreRefusedByName(_ name: String) throws {
        let world = try DatabaseUnderTest()
        try makePlain(world, name.hasSuffix("Compare") ? [name] : [], name.hasSuffix("String") ? [name] : [])
        let before = try world.bytes()
        world.keychain.run {
            let file = ProtectedDatabaseFile(path: world.path, preparing: TextFunctions.add)
            let error = #expect(throws: ProtectedDatabaseError.self) { try file.encrypt() }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains(name) == true && error?.message.contains("GRDB") == true, "\(error as Any)")
        }
        #expect(try world.names == ["app.db"])
        #expect(try world.bytes() == before)
        try world.keychain.run {
            try world.file.encrypt()
            // Not a database that is damaged.
            let file = ProtectedDatabaseFile(path: world.path, preparing: TextFunctions.add)
            #expect(throws: ProtectedDatabaseError(.unsupported, message: "")) { try file.problems() }
        }
    }
}
