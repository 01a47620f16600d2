import Foundation
import TestSupport
import Testing

/// `keychain db shell` as a person uses it at a terminal.
@Suite struct DatabaseShellTests {
    /// A shell at a database with two rows, for the editing of lines with readline or without it.
    private func shell(plain: Bool = false) throws -> (Workplace, Pseudoterminal) {
        let workplace = try Workplace()
        let made = try workplace.shell(
            """
            keychain db create a.db --class none
            keychain db shell a.db --write 'CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)' \
                "INSERT INTO note (text) VALUES ('one'), ('a longer text')"
            """)
        try #require(made.status == 0, "\(made.errors)")
        // A library whose name is taken by an empty file cannot be loaded.
        let hide =
            plain ? "mkdir lib; touch lib/libreadline.so.8 lib/libedit.so.2; export LD_LIBRARY_PATH=$PWD/lib;" : ""
        let terminal = try Pseudoterminal(
            workplace, ["/bin/sh", "-c", "cd \"$HOME\"; \(hide) exec keychain db shell a.db --write"])
        try terminal.expect("sql> ")
        return (workplace, terminal)
    }

    @Test(arguments: [true, false])
    func rowsAreAligned(plain: Bool) throws {
        let (_, terminal) = try shell(plain: plain)
        terminal.type("SELECT id, text FROM note\n")
        try terminal.expect("...> ")
        terminal.type(";\n")
        try terminal.expect("id  text")
        try terminal.expect("--  -------------")
        try terminal.expect(" 1  one")
        try terminal.expect(" 2  a longer text")
        try terminal.expect("sql> ")
        terminal.type("SELECT 'in the middle'\n")
        try terminal.expect("...> ")
        terminal.type(".quit\n")
        #expect(try terminal.finish() == 0)
    }

    @Test(arguments: [true, false])
    func controlC(plain: Bool) throws {
        let (_, terminal) = try shell(plain: plain)
        // What is typed is dropped.
        terminal.type("SELECT 1,\n")
        try terminal.expect("...> ")
        terminal.type("\u{3}")
        try terminal.expect("sql> ")
        // A statement without end is ended.
        terminal.type("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;\n")
        try terminal.expect("FROM c;")
        usleep(300_000)
        terminal.type("\u{3}")
        try terminal.expect("the statement was ended by Ctrl-C")
        try terminal.expect("sql> ")
        terminal.type("SELECT count(*) + 40 FROM note;\n")
        try terminal.expect("42")
        try terminal.expect("sql> ")
        terminal.type("\u{4}")
        #expect(try terminal.finish() == 0)
    }

    @Test func linesAreEditedAndComeBack() throws {
        let (workplace, terminal) = try shell()
        // Back by one character, and an insertion.
        terminal.type("SELECT 10 + 1;\u{1B}[D7\n")
        try terminal.expect("27")
        try terminal.expect("sql> ")
        // The last line again.
        terminal.type("\u{1B}[A\n")
        try terminal.expect("27")
        try terminal.expect("sql> ")
        terminal.type(".schema note\n")
        try terminal.expect("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);")
        try terminal.expect("sql> ")
        terminal.type(".exit\n")
        #expect(try terminal.finish() == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: workplace.path).allSatisfy { !$0.contains("history") })
    }
}
