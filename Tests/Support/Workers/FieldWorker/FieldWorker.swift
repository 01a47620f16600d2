import Foundation
import GRDB
import Glibc
import SealedFields

/// What tests of sealed fields run as another process, and kill. Reports on standard output.
@main struct FieldWorker {
    static let keys = FieldKeys("com.example.worker", protection: .keychain(.afterFirstUnlockThisDeviceOnly))
    static let sealing = FieldSealing(database: "worker", keys: keys)

    struct Line: SealedRecord, PersistableRecord {
        static let databaseTableName = "line"
        static let fieldSealing = sealing
        var id: Int64
        @SealedField var text: String
    }

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { exit(64) }
        do {
            var configuration = Configuration()
            configuration.journalMode = .wal
            let queue = try DatabaseQueue(path: arguments[1], configuration: configuration)
            switch arguments[0] {
            case "fill": try fill(queue, Int64(arguments[2]) ?? 0)
            case "add": emit("\(try keys.addGeneration().id)")
            case "rotate": try rotate(queue)
            case "check": try check(queue)
            default: exit(64)
            }
        } catch {
            emit("error \(error)")
            exit(1)
        }
    }

    private static func emit(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        guard Glibc.write(1, bytes, bytes.count) == bytes.count else { exit(65) }
    }

    private static func fill(_ queue: DatabaseQueue, _ count: Int64) throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE line (id INTEGER PRIMARY KEY, text BLOB NOT NULL)")
            for id in 1...count { try Line(id: id, text: "line \(id)").insert(db) }
        }
        emit("filled")
    }

    /// Says after each batch how many values were sealed anew, and waits for a line before it goes on; not once its
    /// input has ended.
    private static func rotate(_ queue: DatabaseQueue) throws {
        let rotation = try FieldRotation(of: Line.self, column: "text", batchSize: 200)
        let outcome = try rotation.run(in: queue) {
            emit("\($0.sealed) of \($0.outdated)")
            _ = readLine()
        }
        emit("done \(outcome.sealed) \(outcome.unreadable)")
    }

    /// Says how many lines there are, how many are what they were, and how many are under each key.
    private static func check(_ queue: DatabaseQueue) throws {
        try queue.read { db in
            var (count, right) = (0, 0)
            let lines = try Line.fetchCursor(db)
            while let line = try lines.next() {
                count += 1
                if line.text == "line \(line.id)" { right += 1 }
            }
            let groups = try Int.fetchAll(
                db, sql: "SELECT count(*) FROM line GROUP BY substr(text, 1, 10) ORDER BY 1 DESC")
            emit("\(count) \(right) \(groups.map(String.init).joined(separator: "+"))")
        }
    }
}
