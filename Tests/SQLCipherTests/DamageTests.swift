import Foundation
import KeychainModel
import SQLCipherWire
import TestSupport
import Testing

@testable import SQLCipherService

/// Files that were changed behind SQLCipher's back: an error or what was written, and never a crash.
@Suite struct DamageTests {
    private static func rows(_ count: Int) -> [[SQLValue]] {
        (1...count).map {
            [.integer(Int64($0)), .string("row \($0)"), .blob([UInt8](repeating: UInt8($0 % 251), count: 300))]
        }
    }

    private func filled() throws -> (CipherFile, Data) {
        let file = try CipherFile()
        let database = try file.create()
        try database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)")
        var batch = RowBatch(columns: 3)
        for row in Self.rows(300) { batch.append(row) }
        try database.transaction { try database.executeBatch("INSERT INTO t VALUES (?, ?, ?)", batch) }
        try database.close()
        return (file, try file.data)
    }

    /// - Returns: Whether the file is read; what is read is what was written.
    private func read(_ file: CipherFile) throws -> Bool {
        do {
            let database = try file.open(readOnly: true)
            let rows = try database.rows("SELECT id, a, b FROM t")
            // A copy that was taken before the table was filled cannot be told apart from an empty one.
            guard rows == Self.rows(300) else { throw FuzzFinding("other rows were read") }
            return true
        } catch let error as SQLCipherError {
            let expected: [RequestFailure.Code?] = [.wrongKey, .damaged, .notEncrypted, .inputOutput]
            guard expected.contains(error.code) else { throw FuzzFinding("\(error.code as Any): \(error)") }
            return false
        }
    }

    @Test func mutations() throws {
        var random = SeededGenerator()
        let (file, whole) = try filled()
        #expect(try read(file))
        var refused = 0
        for round in 0..<TestScale.count(60, soak: 3000) {
            try FolderContents.write(random.mutated(whole), to: file.path)
            do {
                if try !read(file) { refused += 1 }
            } catch {
                Issue.record("\(error), round \(round), seed \(random.seed)")
            }
        }
        #expect(refused > 30)
    }

    @Test func cutOff() throws {
        let (file, whole) = try filled()
        for size in [0, 1, 15, 16, 100, 4095, 4096, 8192, whole.count - 4096, whole.count - 100] {
            try FolderContents.write(whole.prefix(size), to: file.path)
            #expect(try !read(file), "\(size)")
        }
    }

    @Test func swappedPages() throws {
        let (file, whole) = try filled()
        let (_, other) = try filled()
        for (first, second) in [(1, 2), (5, 9), (3, 12)] {
            var bytes = whole
            let (a, b) = (first * 4096..<(first + 1) * 4096, second * 4096..<(second + 1) * 4096)
            bytes.replaceSubrange(a, with: whole[b])
            bytes.replaceSubrange(b, with: whole[a])
            try FolderContents.write(bytes, to: file.path)
            #expect(try !read(file))
            bytes = whole
            bytes.replaceSubrange(a, with: other[a])
            try FolderContents.write(bytes, to: file.path)
            #expect(try !read(file))
        }
    }
}
