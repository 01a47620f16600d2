import Foundation
import TestSupport

/// Statements that come again with the same seed: changes of every kind, and questions.
struct RandomStatements {
    var generator: SeededGenerator
    private var isInTransaction = false
    private var savepoints = 0

    init(generator: SeededGenerator) { self.generator = generator }

    static let schema = """
        CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, t TEXT, b BLOB);
        CREATE INDEX an ON a(n);
        CREATE INDEX at ON a(t, n);
        CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        """

    private mutating func below(_ bound: Int) -> Int { generator.int(below: bound) }

    private mutating func text() -> String {
        "'" + String(repeating: ["ab", "xyz", "é ", "q"][below(4)], count: below(40)) + "\(below(1000))'"
    }

    /// Zeros, as the two databases would disagree on random bytes.
    private mutating func blob() -> String { "zeroblob(\([10, 200, 3000, 20_000][below(4)] + below(100)))" }

    mutating func next() -> String {
        switch below(100) {
        case 0..<30:
            return "INSERT OR REPLACE INTO a(id, n, t, b) VALUES(\(below(3000)), \(below(500)), \(text()), \(blob()))"
        case 30..<42:
            return "UPDATE a SET n = n + \(below(9)), t = \(text()) WHERE id BETWEEN \(below(3000)) AND \(below(3000))"
        case 42..<50: return "DELETE FROM a WHERE n = \(below(500)) OR id = \(below(3000))"
        case 50..<56: return "INSERT INTO w VALUES(\(text()), \(blob())) ON CONFLICT(k) DO UPDATE SET v = \(below(99))"
        case 56..<60: return "DELETE FROM w WHERE length(k) % 7 = \(below(7)) AND typeof(v) = 'blob'"
        case 60..<66: return "SELECT count(*), sum(n), sum(length(b)), min(t) FROM a WHERE n > \(below(500))"
        case 66..<70: return "SELECT k, length(v) FROM w ORDER BY v, k LIMIT 20"
        case 70..<73: return "SELECT a.id, x.id FROM a JOIN a x ON a.n = x.n ORDER BY a.t, x.t, a.id, x.id LIMIT 30"
        case 73..<76: return "DELETE FROM a WHERE id > \(1000 + below(2500))"
        case 76..<77: return ["REINDEX", "ANALYZE", "PRAGMA incremental_vacuum(5)", "PRAGMA shrink_memory"][below(4)]
        case 77..<78: return isInTransaction ? "SELECT 1" : "VACUUM"
        case 78..<80:
            return isInTransaction
                ? "SELECT 2" : "PRAGMA wal_checkpoint(\(["PASSIVE", "FULL", "RESTART", "TRUNCATE"][below(4)]))"
        case 80..<81:
            return isInTransaction
                ? "SELECT 3" : "PRAGMA journal_mode = \(["WAL", "DELETE", "PERSIST", "TRUNCATE", "MEMORY"][below(5)])"
        case 81..<82: return "CREATE TABLE IF NOT EXISTS c\(below(4)) AS SELECT * FROM a WHERE n < 100"
        case 82..<83: return "DROP TABLE IF EXISTS c\(below(4))"
        case 83..<90: return begin()
        case 90..<96: return end()
        default: return savepoint()
        }
    }

    private mutating func begin() -> String {
        guard !isInTransaction else { return "SELECT count(*) FROM a" }
        (isInTransaction, savepoints) = (true, 0)
        return "BEGIN IMMEDIATE"
    }

    private mutating func end() -> String {
        guard isInTransaction else { return "PRAGMA quick_check" }
        (isInTransaction, savepoints) = (false, 0)
        return below(3) == 0 ? "ROLLBACK" : "COMMIT"
    }

    private mutating func savepoint() -> String {
        guard isInTransaction else { return "SELECT max(id) FROM a" }
        switch below(3) {
        case 0:
            savepoints += 1
            return "SAVEPOINT s\(savepoints)"
        case 1 where savepoints > 0: return "ROLLBACK TO s\(savepoints)"
        case 2 where savepoints > 0:
            savepoints -= 1
            return "RELEASE s\(savepoints + 1)"
        default: return "SELECT min(id) FROM a"
        }
    }
}
