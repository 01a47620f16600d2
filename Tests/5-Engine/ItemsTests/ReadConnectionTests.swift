import Bytes
import Foundation
import SystemSQLite
import Testing

@testable import Items

/// The connection that reads, beside the one that writes.
struct ReadConnectionTests {
    private let key: SecretBytes
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

    init() throws { key = try SecretBytes(count: 32) { $0.copyBytes(from: [UInt8].random(count: 32)) } }

    private func store() throws -> ItemStore {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "items.db").path
        try Data().write(to: URL(filePath: path))
        let store = try ItemStore.open(path: path, key: key)
        try store.create(for: UUID())
        return store
    }

    private func connection() throws -> ReadConnection {
        try ReadConnection(.encrypted(folder.appending(path: "items.db").path, key: key), settings: "") { _, _ in 0 }
    }

    @Test func cannotWrite() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try store()
        let connection = try connection()
        let failure = #expect(throws: (any Error).self) {
            _ = try connection.database.statement("DELETE FROM vault").step()
        }
        #expect(failure.map { StoreError($0) } == .readOnly)
        _ = try store.check()
    }

    @Test func aFileThatIsNotThereIsAnErrorAndStaysAway() {
        #expect(throws: (any Error).self) { try connection() }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func settingsThatFailAreAnError() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try store()
        #expect(throws: (any Error).self) {
            try ReadConnection(
                .encrypted(folder.appending(path: "items.db").path, key: key), settings: "PRAGMA x; no such"
            ) { _, _ in 0 }
        }
        try store.close()
    }

    @Test func moreStatementsThanAreKept() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try store()
        let connection = try connection()
        let held = try connection.database.statement("SELECT 0")
        #expect(try held.step())
        for round in 1...100 { #expect(try connection.database.integer("SELECT \(round)") == Int64(round)) }
        #expect(held.integer(0) == 0)
        try store.close()
    }

    @Test func aStatementInUseIsNotLentTwice() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try store()
        let connection = try connection()
        let twoRows = "SELECT 1 UNION ALL SELECT 2"
        do {
            let outer = try connection.database.statement(twoRows)
            #expect(try outer.step())
            #expect(try connection.database.integer(twoRows) == 1)
            #expect(try outer.step())
            #expect(outer.integer(0) == 2)
        }
        try connection.database.close()
        #expect(throws: (any Error).self) { try connection.database.integer("SELECT 1") }
        try store.close()
    }
}
