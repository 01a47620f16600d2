import Foundation
import TestSupport
import Testing

/// What another program is given when `keychain db shell` starts it with a key.
@Suite struct CipherShellTests {
    /// Stands in for `sqlcipher`: writes down everything that it gets.
    private static let recorder = """
        #!/bin/sh
        printf '%s\\n' "$@" > "$HOME/arguments"
        tr '\\0' '\\n' < /proc/self/environ > "$HOME/environment"
        ls -l /proc/self/fd > "$HOME/descriptors"
        cat "$2" > "$HOME/script"
        cat > "$HOME/input"
        exit 7
        """

    @Test func theKeyGoesThroughAPipeAlone() throws {
        let workplace = try Workplace()
        let key = String(repeating: "0123456789abcdef", count: 4)
        try Data(key.utf8).write(to: URL(filePath: workplace.path + "/key"))
        let made = try workplace.shell(
            "keychain db create a.db; keychain db export a.db --output c.db --key-fd 3 3<key; "
                + "keychain db keep-key c.db --key-fd 3 3<key")
        try #require(made.status == 0, Comment(rawValue: made.errors))
        let recorder = workplace.path + "/bin/sqlcipher"
        try Data(Self.recorder.utf8).write(to: URL(filePath: recorder))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: recorder)

        let run = try workplace.shell("echo typed | keychain db shell c.db 'SELECT 1' 5<key")
        #expect(run.status == 7)
        func recorded(_ name: String) throws -> String {
            try String(contentsOfFile: "\(workplace.path)/\(name)", encoding: .utf8)
        }
        let arguments = try recorded("arguments").split(separator: "\n")
        #expect(arguments.count == 4)
        #expect(arguments.first == "-init")
        #expect(arguments.suffix(2) == ["./c.db", "SELECT 1"])
        let descriptor = try #require(arguments.dropFirst().first?.split(separator: "/").last)
        for name in ["arguments", "environment", "descriptors"] {
            #expect(!(try recorded(name)).contains(key.prefix(16)), "\(name)")
        }
        let script = try recorded("script").split(separator: "\n")
        #expect(script.contains("PRAGMA key = \"x'\(key)'\";"))
        #expect(script.contains("PRAGMA cipher_page_size = 4096;"))
        #expect(script.contains("PRAGMA query_only = ON;"))
        #expect(try recorded("input") == "typed\n")
        // Of `ls`: its three, the pipe, and the folder that it lists.
        let open = try recorded("descriptors").split(separator: "\n").dropFirst()
            .compactMap { $0.components(separatedBy: " -> ").first?.split(separator: " ").last }
        #expect(open.count == 5, "\(open)")
        #expect(open.contains(descriptor))
    }

    /// Statements that are typed, some of which fail.
    @Test func linesAreTyped() throws {
        let workplace = try Workplace()
        try #require(try workplace.shell("keychain db create a.db").status == 0)
        let terminal = try Pseudoterminal(workplace, ["keychain", "db", "shell", workplace.path + "/a.db", "--write"])
        try terminal.expect("sql> ")
        terminal.type("CREATE TABLE t (a TEXT);\nINSERT INTO t\n")
        try terminal.expect("...> ")
        terminal.type("VALUES ('x' || 'yz');\nSELECT missing;\n")
        try terminal.expect("no such column: missing")
        terminal.type("SELECT a FROM t;\n.tables\n")
        try terminal.expect("xyz")
        terminal.type(".quit\n")
        #expect(try terminal.finish() == 0)
        #expect(try workplace.shell("keychain db shell a.db 'SELECT count(*) FROM t'").text == "1\n")
    }
}
