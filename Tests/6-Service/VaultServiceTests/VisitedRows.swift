import CSQLite
import Foundation
import Synchronization

/// Records how many instructions SQLite's virtual machine takes for each statement on a database of this process. They
/// show how many rows and entries of indexes a statement visits, and do not depend on the machine or its load.
enum VisitedRows {
    /// What was recorded, by the path of the database.
    private static let recorded = Mutex<[String: [String]]>([:])

    /// Makes the connections count that this process opens from now on.
    static func watch() { sqlite3_auto_extension(entry) }

    /// Returns the statements that end during `body` on the database at `path`, each with its number of instructions.
    static func statements(on path: String, during body: () throws -> Void) rethrows -> [String] {
        recorded.withLock { $0[path] = [] }
        defer { _ = recorded.withLock { $0.removeValue(forKey: path) } }
        try body()
        return recorded.withLock { $0[path] ?? [] }
    }

    private static let hook:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
        ) -> Int32 = { connection, _, _ in
            sqlite3_trace_v2(connection, UInt32(SQLITE_TRACE_PROFILE), VisitedRows.record, nil)
        }

    /// SQLite declares the entry of an extension without its parameters. It keeps the same entry once.
    private static let entry = unsafeBitCast(hook, to: (@convention(c) () -> Void).self)

    private static let record:
        @convention(c) (UInt32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32 =
            { _, _, statement, _ in
                let statement = statement.map { OpaquePointer($0) }
                let connection = sqlite3_db_handle(statement)
                guard let name = sqlite3_db_filename(connection, "main"), let sql = sqlite3_sql(statement) else {
                    return 0
                }
                let steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
                let line = "\(steps) steps: \(String(cString: sql))"
                VisitedRows.recorded.withLock { $0[String(cString: name)]?.append(line) }
                return 0
            }
}
