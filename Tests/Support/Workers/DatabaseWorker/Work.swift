import Bytes
import DatabaseVFS
import Foundation
import GRDB
import SQLCipherFiles

/// What a worker is asked to do: the path of the database, its journal mode, what to do, the number of rows, the
/// worker's own, and for a file of SQLCipher its version.
struct Work {
    let path: String
    let journal: String
    let task: String
    let count: Int
    let number: Int
    let version: CipherFormat.Version?

    init(_ arguments: [String]) throws {
        guard arguments.count >= 5, let count = Int(arguments[3]), let number = Int(arguments[4]) else {
            throw CocoaError(.featureUnsupported)
        }
        (path, journal, task, self.count, self.number) = (arguments[0], arguments[1], arguments[2], count, number)
        version = arguments.count > 5 ? Int(arguments[5]).flatMap { CipherFormat.Version(rawValue: $0) } : nil
    }

    func run() throws {
        let key = try SecretBytes(count: 32) { $0.copyBytes(from: [UInt8](repeating: 7, count: 32)) }
        let registration =
            if let version {
                try EncryptingVFS.register(path: path, form: CipherPlace(key: .raw(key), version: version))
            } else {
                try EncryptingVFS.register(path: path, key: key)
            }
        var configuration = Configuration()
        // SQLite's own handler asks ten times a second at last, and waits long beside another writer.
        configuration.busyMode = .callback { asked in
            usleep(500)
            return asked < 120_000
        }
        let (journal, task) = (journal, task)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = \(journal)")
            // A cache of a few pages, so that pages go to the file or the log before they are committed.
            if ["spill", "hold"].contains(task) {
                try db.execute(sql: "PRAGMA cache_size = 10; PRAGMA cache_spill = 10")
            }
            if task == "quick" { try db.execute(sql: "PRAGMA synchronous = OFF") }
        }
        do {
            let queue = try DatabaseQueue(path: EncryptingVFS.uri(path: path), configuration: configuration)
            if task == "scarce" {
                return try Scarcity(path: path, rounds: count, queue: queue, registration: registration).run(say)
            }
            if task == "hold" { return try hold(queue) }
            for round in 0..<count {
                try write(round, to: queue)
                say("\(round)")
            }
            try queue.close()
        } catch {
            say("failed: \(error) \(registration.takeFailure().map(\.description) ?? "")")
            exit(1)
        }
        say("done")
    }

    /// Writes a row for each page, which go to the file or the log, and commits nothing until it is killed.
    private func hold(_ queue: DatabaseQueue) throws {
        try queue.inTransaction(.immediate) { db in
            for round in 0..<count {
                try db.execute(
                    sql: "INSERT INTO passing(worker, round, bytes) VALUES(?, ?, zeroblob(3000))",
                    arguments: [number, round])
            }
            say("held")
            while true { sleep(60) }
        }
    }

    /// One transaction: a row that is counted, and others that come and go, so that pages are freed and used again.
    private func write(_ round: Int, to queue: DatabaseQueue) throws {
        try queue.inTransaction(.immediate) { db in
            try db.execute(
                sql: "INSERT INTO kept(worker, round, text) VALUES(?, ?, ?)",
                arguments: [number, round, "canary \(number) \(round)"])
            let rows = task == "spill" ? 60 : 3
            for row in 0..<rows {
                try db.execute(
                    sql: "INSERT INTO passing(worker, round, bytes) VALUES(?, ?, zeroblob(?))",
                    arguments: [number, round, 500 + (round * 37 + row * 911) % 3000])
            }
            if round % 3 == 2 {
                try db.execute(
                    sql: "DELETE FROM passing WHERE worker = ? AND round < ?", arguments: [number, round - 1])
            }
            return .commit
        }
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
