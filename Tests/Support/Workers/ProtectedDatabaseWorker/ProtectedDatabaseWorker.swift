import Foundation
import GRDB
import Glibc
import ProtectedDatabase

/// What tests of encrypted databases run as another process, with the vault that the environment names. Reports on
/// standard output.
@main struct ProtectedDatabaseWorker {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { exit(64) }
        let file = ProtectedDatabaseFile(path: arguments[1])
        do {
            switch arguments[0] {
            case "encrypt": try file.encrypt(progress: progress)
            case "decrypt": try file.decrypt(progress: progress)
            case "rekey": try file.changeKey(progress: progress)
            case "convert": try convert(file)
            case "insert": try insert(file, mode: arguments.count > 2 ? arguments[2] : "pool")
            case "count": try count(file)
            case "rows": try rows(file)
            case "recover": try file.recover(to: ProtectedDatabaseFile(path: arguments[2]))
            case "scarce": try ScarceSpace(file, isLimited: arguments.count > 2).run(emit)
            default: exit(64)
            }
            emit("done")
        } catch {
            emit("error \((error as? ProtectedDatabaseError)?.code.description ?? "\(error)")")
            exit(1)
        }
    }

    private static func emit(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        guard write(1, bytes, bytes.count) == bytes.count else { exit(65) }
    }

    private static func progress(_: ProtectedDatabaseFile.Progress) -> Bool {
        emit(".")
        return true
    }

    /// Encrypts, writes to, changes the key of, makes a SQLCipher file of, and decrypts a database without end. Prints
    /// the numbers of rows that were committed.
    private static func convert(_ file: ProtectedDatabaseFile) throws {
        let cipher = ProtectedDatabaseFile(path: file.path, sqlcipher: .keychain())
        do {
            if try file.info().isEncrypted { try file.decrypt() }
        } catch ProtectedDatabaseError.Code.notDatabase {
            try cipher.decrypt()
        }
        emit("plain")
        while true {
            try file.encrypt()
            emit("encrypted")
            try change(ProtectedDatabase(path: file.path, creation: .never))
            try file.changeKey()
            emit("changed")
            try change(ProtectedDatabase(path: file.path, creation: .never))
            try file.changeKey(sqlcipher: .keychain())
            emit("sqlcipher")
            try change(ProtectedDatabase(path: file.path, sqlcipher: .keychain(), creation: .never))
            try cipher.encrypt()
            emit("encrypted")
            try file.decrypt()
            emit("plain")
        }
    }

    /// Changes rows here and there.
    private static func change(_ database: ProtectedDatabase) throws {
        for _ in 0..<20 {
            let number = try database.write { db in
                try db.execute(
                    sql: """
                        UPDATE ballast SET bytes = randomblob(20000)
                            WHERE id IN (SELECT 1 + abs(random()) % (SELECT max(id) FROM ballast) FROM note LIMIT 5)
                        """)
                try db.execute(sql: "INSERT INTO entry (process) VALUES (?)", arguments: [getpid()])
                return db.lastInsertedRowID
            }
            emit("\(number)")
        }
        try database.close()
    }

    /// Inserts rows without end; prints the number of each that was committed.
    private static func insert(_ file: ProtectedDatabaseFile, mode: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(20)
        let database = try ProtectedDatabase(
            path: file.path, connections: mode == "pool" ? .pool : .queue, configuration: configuration)
        try database.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, process INTEGER, text TEXT)")
        }
        while true {
            let number = try database.write { db in
                try db.execute(
                    sql: "INSERT INTO entry (process, text) VALUES (?, ?)",
                    arguments: [getpid(), String(repeating: "a canary that sings in the clear ", count: 20)])
                return db.lastInsertedRowID
            }
            emit("\(number)")
        }
    }

    private static func rows(_ file: ProtectedDatabaseFile) throws {
        let database = try ProtectedDatabase(path: file.path, creation: .never)
        try database.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { return emit("damaged \(problems)") }
            for number in try Int.fetchAll(db, sql: "SELECT id FROM entry") { emit("\(number)") }
        }
    }

    private static func count(_ file: ProtectedDatabaseFile) throws {
        let database: ProtectedDatabase
        do {
            database = try ProtectedDatabase(path: file.path, creation: .never)
        } catch ProtectedDatabaseError.Code.notDatabase {
            database = try ProtectedDatabase(path: file.path, sqlcipher: .keychain(), creation: .never)
        }
        try database.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard problems == ["ok"] else { return emit("damaged \(problems)") }
            emit("notes \(try Int.fetchOne(db, sql: "SELECT count(*) FROM note") ?? 0)")
            for number in try Int.fetchAll(db, sql: "SELECT id FROM entry") { emit("\(number)") }
        }
    }
}
