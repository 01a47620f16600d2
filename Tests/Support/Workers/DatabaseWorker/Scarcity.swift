import DatabaseVFS
import Foundation
import GRDB

/// Transactions on a disk that is full again and again; says of each failure what it was, and at the end whether all is
/// there.
struct Scarcity {
    let path: String
    let rounds: Int
    let queue: DatabaseQueue
    let registration: DatabaseRegistration

    private var filler: String { path + ".filler" }

    func run(_ say: (String) -> Void) throws {
        try queue.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, bytes BLOB)") }
        var kept = 0
        for round in 0..<rounds {
            if round % 4 == 3 { fill(leaving: [0, 4096, 8192, 12_288, 20_480][round / 4 % 5]) }
            do {
                try queue.write { db in
                    for row in 0..<4 {
                        try db.execute(
                            sql: "INSERT INTO t VALUES(?, zeroblob(?))",
                            arguments: [round * 10 + row, 3000 + round * 211 % 9000])
                    }
                }
                kept += 4
            } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                say("full")
            }
            if round % 4 == 3 { unlink(filler) }
            // So that pages are free, and used again.
            if round % 8 == 7 {
                try queue.write { try $0.execute(sql: "DELETE FROM t WHERE id < ?", arguments: [round * 10 - 60]) }
                kept = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? -1
            }
        }
        let found = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        let check = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        try queue.close()
        let again = try DatabaseQueue(path: EncryptingVFS.uri(path: path))
        let later = try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        say(
            found == kept && later == kept && check == ["ok"]
                ? "whole" : "\(kept) rows, \(found ?? -1) found, \(later ?? -1) later, \(check)")
    }

    private func fill(leaving room: off_t) {
        let descriptor = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 1, count: 1024)
        while write(descriptor, bytes, bytes.count) > 0 {}
        var info = stat()
        if fstat(descriptor, &info) == 0 { ftruncate(descriptor, max(0, info.st_size - room)) }
    }
}
