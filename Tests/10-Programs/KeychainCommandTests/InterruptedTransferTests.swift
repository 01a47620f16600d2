import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

/// `keychain db export` and `keychain db import` that are killed on their way.
@Suite struct InterruptedTransferTests {
    private static let canary = "a canary that sings in the clear"

    private static func workplace() throws -> Workplace {
        let workplace = try Workplace()
        let queue = try DatabaseQueue(path: workplace.path + "/app.db")
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
            for number in 0..<TestScale.count(3_000, soak: 30_000) {
                try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: ["\(canary) \(number)"])
            }
        }
        try queue.close()
        try require(workplace, "keychain db encrypt app.db && keychain db export app.db --output given.db")
        return workplace
    }

    private static func require(_ workplace: Workplace, _ command: String) throws {
        let outcome = try workplace.shell(command)
        try #require(outcome.status == 0, "\(command): \(outcome.errors)")
    }

    private static func names(_ workplace: Workplace) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: workplace.path)
    }

    /// Files with the text in them.
    private static func clear(_ workplace: Workplace) throws -> [String] {
        try names(workplace).filter {
            FileManager.default.contents(atPath: workplace.path + "/" + $0)?.range(of: Data(canary.utf8)) != nil
        }
    }

    @Test(arguments: [
        "export app.db --output new.db", "import given.db new.db", "export app.db --output new.db --format sqlite",
    ])
    func killed(_ command: String) throws {
        let workplace = try Self.workplace()
        let isPlain = command.hasSuffix("sqlite")
        var (finished, killed) = (0, 0)
        var generator = SeededGenerator()
        let start = ContinuousClock.now
        try Self.require(workplace, "keychain db \(command)")
        // Up to somewhat longer than it takes.
        let time = (ContinuousClock.now - start) / .microseconds(1)
        for _ in 0..<TestScale.count(6, soak: 150) {
            try Self.require(workplace, "rm -f new.db new.db-*")
            var program = workplace.start(["keychain", "db"] + command.split(separator: " ").map(String.init))
            program.folder = workplace.path
            let process = try program.start { actions in
                for descriptor in Int32(0)...2 {
                    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
                }
            }
            usleep(useconds_t(Double.random(in: 0...max(20_000, 1.2 * time), using: &generator)))
            kill(process, SIGKILL)
            let status = ProgramStart.wait(for: process)
            if status == 0 { finished += 1 } else { killed += 1 }
            if !isPlain { #expect(try Self.clear(workplace) == []) }
            let isThere = try Self.names(workplace).contains("new.db")
            #expect(status != 0 || isThere)
            guard isThere else { continue }
            // What has the name is whole.
            let count =
                isPlain
                ? try DatabaseQueue(path: workplace.path + "/new.db").read(Self.count)
                : Int(try workplace.shell("keychain db shell new.db 'SELECT count(*) FROM note'").text.trimmed)
            #expect(count == TestScale.count(3_000, soak: 30_000))
        }
        print("killed \(killed) of \(killed + finished): keychain db \(command)")
        try Self.require(workplace, "rm -f new.db; keychain db \(command) && keychain db verify app.db")
        // What was in the clear went with the next one.
        #expect(try Self.clear(workplace) == (isPlain ? ["new.db"] : []))
        #expect(try !Self.names(workplace).contains { $0.contains(".plain") })
    }

    private static func count(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "SELECT count(*) FROM note") }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
