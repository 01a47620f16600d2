import Foundation
import GRDB
import TestSupport
import Testing

/// The exit statuses of `keychain backup`: the table in Documentation/Operate/Operation.md, line by line.
@Suite struct BackupStatusTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
        _ = try workplace.shell(
            "printf pw > pw; printf wrong > wrong; printf right > right; printf a | keychain set s a; printf b | keychain set s b"
        )
    }

    private func status(_ command: String) throws -> Int32 { try workplace.shell(command).status }

    private func damage(_ change: String) throws {
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: workplace.home))
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET \(change) WHERE id = 1") }
        try database.close()
    }

    private static var table: [Int32: String] {
        get throws {
            let page =
                Repository.file("Documentation/Operate/Operation.md").path
            let text = try String(contentsOfFile: page, encoding: .utf8)
            let section = try #require(text.components(separatedBy: "| exit status of `keychain backup` |").last)
            let rows = section.components(separatedBy: "\n\n")[0].split(separator: "\n").dropFirst(2)
            return try Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                    return (try #require(Int32(cells[0])), cells[1])
                })
        }
    }

    @Test func theyAreThoseOfThePage() throws {
        var found: Set<Int32> = []
        func expect(_ status: Int32, _ command: String) throws {
            let outcome = try workplace.shell(command)
            #expect(outcome.status == status, "\(command): \(outcome.text)\(outcome.errors)")
            found.insert(outcome.status)
        }
        try expect(0, "keychain backup whole --password-fd 3 3<pw")
        try expect(0, "keychain backup --verify whole --password-fd 3 3<pw")
        try expect(0, "KEYCHAIN_HOME=$HOME/next keychain backup restore whole --password-fd 3 3<pw")
        // Nothing is written, made or read.
        try expect(1, "keychain backup to --to-recovery-key")
        try expect(1, "keychain backup /nowhere/b --password-fd 3 3<pw")
        try expect(1, "keychain backup --verify whole --password-fd 3 3<wrong")
        try expect(1, "head -c 50 whole > short; keychain backup --verify short --password-fd 3 3<pw")
        try expect(1, "keychain backup --verify missing --password-fd 3 3<pw")
        try expect(1, "keychain backup restore whole --password-fd 3 3<pw")
        try expect(44, "KEYCHAIN_HOME=$HOME/none keychain backup b --password-fd 3 3<pw")
        try expect(45, "keychain backup whole --password-fd 3 3<pw")
        try expect(36, "keychain backup b")
        try expect(64, "keychain backup b --verify --force")
        #expect(try status("test -e to || test -e b || test -e none") == 1)
        // A row that cannot be read is left out, and one whose value is damaged is found when the backup is opened.
        try damage("data = zeroblob(length(data))")
        try expect(0, "keychain backup value --password-fd 3 3<pw")
        try expect(65, "keychain backup --verify value --password-fd 3 3<pw")
        try expect(65, "KEYCHAIN_HOME=$HOME/other keychain backup restore value --password-fd 3 3<pw")
        #expect(try workplace.shell("KEYCHAIN_HOME=$HOME/other keychain get s b").text == "b")
        try damage("pk = x'00'")
        try expect(65, "keychain backup row --password-fd 3 3<pw")
        try expect(0, "keychain backup --verify row --password-fd 3 3<pw")
        try expect(65, "keychain backup row --force --json --password-fd 3 3<pw")
        try damage("pk = randomblob(16)")
        _ = try status("keychain status --delete-damaged")
        _ = try status("keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right")
        try expect(36, "keychain backup b --password-fd 3 3<pw")
        try expect(51, "keychain backup b --password-fd 3 --passcode-fd 4 3<pw 4<wrong")
        try expect(0, "keychain backup b --password-fd 3 --passcode-fd 4 3<pw 4<right")
        #expect(try Set(Self.table.keys) == found)
    }
}
