import Foundation
import GRDB
import SQLCipherFiles
import TestSupport
import Testing

/// What SQLCipher's format notices of changes to a file, and what it does not.
@Suite struct CipherDamageTests {
    private static let pageSize = 4096

    private static func text(_ id: Int, _ version: Int = 0) -> String {
        "row \(id) of version \(version) " + String(repeating: "\(id % 10)", count: 300)
    }

    private func prepared(_ cipher: CipherFormat.Version, key: UInt8 = 7) throws -> DatabaseUnderTest {
        let database = try DatabaseUnderTest(key: key, cipher: cipher)
        let queue = try database.queue { try $0.execute(sql: "PRAGMA page_size = \(Self.pageSize)") }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
            for id in 0..<300 { try db.execute(sql: "INSERT INTO t VALUES(?, ?)", arguments: [id, Self.text(id)]) }
        }
        try queue.close()
        return database
    }

    private func rows(_ database: DatabaseUnderTest) throws -> [String] {
        let queue = try database.queue()
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT text FROM t ORDER BY id") }
    }

    private static let expected = (0..<300).map { text($0) }

    private func page(_ number: Int) -> Range<Int> { (number - 1) * Self.pageSize..<number * Self.pageSize }

    @Test(arguments: [CipherFormat.Version.two, .three, .four])
    func movedPagesAreErrors(_ cipher: CipherFormat.Version) throws {
        let database = try prepared(cipher)
        let other = try prepared(cipher, key: 8).bytes()
        let whole = try database.bytes()
        #expect(try rows(database) == Self.expected)
        for (first, second) in [(1, 2), (3, 9), (2, 20)] {
            var bytes = whole
            bytes.replaceSubrange(page(first), with: whole[page(second)])
            bytes.replaceSubrange(page(second), with: whole[page(first)])
            try database.write(bytes)
            #expect(throws: DatabaseError.self, "\(first) and \(second)") { try rows(database) }
        }
        for number in [2, 5] {
            var bytes = whole
            bytes.replaceSubrange(page(number), with: other[page(number)])
            try database.write(bytes)
            #expect(throws: DatabaseError.self, "\(number)") { try rows(database) }
            bytes.replaceSubrange(page(number), with: Data(count: Self.pageSize))
            try database.write(bytes)
            #expect(throws: DatabaseError.self, "zeros for \(number)") { try rows(database) }
        }
    }

    @Test(arguments: [CipherFormat.Version.one, .four])
    func cutFilesAreErrors(_ cipher: CipherFormat.Version) throws {
        let database = try prepared(cipher)
        let whole = try database.bytes()
        for size in [1, 15, 16, 100, 4095, 4096, 8192, whole.count - 4096, whole.count - 100] {
            try database.write(whole.prefix(size))
            #expect(throws: DatabaseError.self, "\(size)") { try rows(database) }
        }
        try database.write(whole)
        #expect(try rows(database) == Self.expected)
    }

    /// An older page of the same number opens, in every version: nothing in the format shows its age.
    @Test func olderPagesOpen() throws {
        let database = try prepared(.four)
        let before = try database.bytes()
        let queue = try database.queue()
        try queue.write { db in
            for id in 0..<300 {
                try db.execute(sql: "UPDATE t SET text = ? WHERE id = ?", arguments: [Self.text(id, 1), id])
            }
        }
        try queue.close()
        var bytes = try database.bytes()
        try #require(bytes.count == before.count)
        let last = bytes.count / Self.pageSize
        bytes.replaceSubrange(page(last), with: before[page(last)])
        try database.write(bytes)
        let found = try rows(database)
        #expect(found.contains(Self.text(299)) && found.contains(Self.text(0, 1)))
    }

    /// Version 1 has no authentication: changed bytes open as others.
    @Test func changedPagesOfVersionOneOpen() throws {
        let database = try prepared(.one)
        var bytes = try database.bytes()
        let last = bytes.count / Self.pageSize
        bytes[page(last).lowerBound + 3000] ^= 1
        try database.write(bytes)
        let found = try rows(database)
        #expect(found.count == 300 && found != Self.expected)
    }
}
