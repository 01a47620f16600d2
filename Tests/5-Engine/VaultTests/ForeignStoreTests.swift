import Foundation
import SystemSQLite
import TestSupport
import Testing
import VaultInterface

@testable import Items
@testable import Vault

/// What other programs, and other openings in this one, do to the file of the rows while it is open.
@Suite struct ForeignStoreTests {
    private let folder: TemporaryFolder
    private let vault: EmbeddedVault

    private var path: String { folder.path(of: "vault") }

    init() throws {
        folder = try TemporaryFolder()
        vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
        _ = try vault.add(.password("fill", "a", "first"), as: .app)
    }

    /// A process that closes any descriptor of a file loses its locks on it (fcntl(2)). Another process would then take
    /// itself for the only one, and remove the log that this one goes on to write.
    @Test func aSecondOpeningLeavesTheLocksOfTheFirst() throws {
        try EmbeddedVault.open(at: path).close()
        let other = try Worker(["churn", path, "1"])
        #expect(other.readLine() == "ready")
        other.cue()
        #expect(other.remainingLines() == ["done"])
        _ = try vault.add(.password("fill", "b", "second"), as: .app)
        // Another process finds both.
        let reader = try Worker(["reopen", path])
        #expect(reader.readLine() == "reopened 2")
        #expect(reader.wait() == 0)
    }

    /// Runs SQL on the file as a program that may write it.
    private func tamper(_ sql: String) throws {
        let connection = try SQLConnection(ItemStoreFile.uri(inVault: path), .readWrite, isURI: true)
        connection.setBusyTimeout(milliseconds: 10_000)
        try connection.execute(sql)
        try connection.close()
    }

    @Test(arguments: [
        "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END",
        "CREATE TRIGGER t AFTER DELETE ON item BEGIN DELETE FROM filing; END",
        "CREATE VIEW v AS SELECT * FROM item", "CREATE TABLE other (a)", "CREATE INDEX i ON item (class)",
    ])
    func whatIsNotOursInTheSchemaDoesNothing(_ sql: String) throws {
        try tamper(sql)
        // An open vault goes on with its own tables.
        _ = try vault.add(.password("fill", "b", "second"), as: .app)
        #expect(try vault.items(.password("fill", limit: nil)).count == 2)
        #expect(try vault.delete(.password("fill", "b"), as: .app) == 1)
        #expect(try vault.items(.password("fill", "a")).count == 1)
        // A new opening says so.
        let error = #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        guard case .corruptVault = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func namesInTheFileGiveATerminalNoCommands() {
        let error = SQLiteError(extendedCode: 1, message: "no such table: \u{1B}[2Jx\u{202E}y\n")
        #expect(error.message == #"no such table: \u{1b}[2Jx\u{202e}y\u{a}"#)
    }
}
