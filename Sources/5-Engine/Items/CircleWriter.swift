import Bytes
import FoundationEssentials
import SystemSQLite

/// Changes the tables of a circle, in a transaction.
package struct CircleWriter {
    let writer: ItemStore.Writer

    package var reader: CircleReader { writer.reader.circle }

    /// Makes the tables, unless they are there.
    package func make() throws {
        guard try !reader.isThere else { return }
        for statement in CircleTables.all { try writer.database.execute(statement) }
        try writer.database.execute("PRAGMA user_version = \(CircleTables.version)")
    }

    /// Removes all that is in them.
    package func clear() throws {
        for table in CircleTables.names { try writer.change("DELETE FROM \(table)") { try $0.run() } }
    }

    /// - Parameter value: Nil removes the state.
    package func set(_ name: String, _ value: Data?) throws {
        guard let value else {
            return try run("DELETE FROM circle_state WHERE name = ?") { try $0.bind(name, at: 1) }
        }
        try run("REPLACE INTO circle_state (name, value) VALUES (?, ?)") { statement in
            try statement.bind(name, at: 1)
            try statement.bind(value, at: 2)
        }
    }

    package func append(log entry: Data, number: UInt32) throws {
        try run("INSERT INTO circle_log (number, entry) VALUES (?, ?)") { statement in
            try statement.bind(Int64(number), at: 1)
            try statement.bind(entry, at: 2)
        }
    }

    /// Removes the entries of the log from a number on.
    package func cutLog(from number: UInt32) throws {
        try run("DELETE FROM circle_log WHERE number >= ?") { try $0.bind(Int64(number), at: 1) }
    }

    package func put(key: Data, of view: Data, generation: UInt32, class keyClass: UInt8) throws {
        try run("REPLACE INTO circle_key (view, generation, class, key) VALUES (?, ?, ?, ?)") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(Int64(generation), at: 2)
            try statement.bind(Int64(keyClass), at: 3)
            try statement.bind(key, at: 4)
        }
    }

    package func put(viewEntry entry: Data, of view: Data, generation: UInt32, number: UInt32) throws {
        try run("REPLACE INTO circle_view (view, generation, number, entry) VALUES (?, ?, ?, ?)") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(Int64(generation), at: 2)
            try statement.bind(Int64(number), at: 3)
            try statement.bind(entry, at: 4)
        }
    }

    package func put(certificate: Data, of member: UInt32, serial: UInt16) throws {
        try run("REPLACE INTO circle_writer (member, serial, certificate) VALUES (?, ?, ?)") { statement in
            try statement.bind(Int64(member), at: 1)
            try statement.bind(Int64(serial), at: 2)
            try statement.bind(certificate, at: 3)
        }
    }

    package func removeCertificates(of member: UInt32) throws {
        try run("DELETE FROM circle_writer WHERE member = ?") { try $0.bind(Int64(member), at: 1) }
    }

    package func put(_ item: CircleRow) throws {
        try run("REPLACE INTO circle_item VALUES (?, ?, ?, ?, ?, ?, ?, ?)") { statement in
            try statement.bind(item.view, at: 1)
            try statement.bind(item.name, at: 2)
            try statement.bind(item.row, at: 3)
            try statement.bind(item.identifier.bytes, at: 4)
            try statement.bind(item.local, at: 5)
            try statement.bind(Int64(item.generation), at: 6)
            try statement.bind(Int64(item.author), at: 7)
            try statement.bind(item.record, at: 8)
        }
    }

    /// Notes that a version of an item, 12 bytes, was taken.
    package func note(version: Data, of item: CircleRow) throws {
        try run("INSERT OR IGNORE INTO circle_version (view, name, version) VALUES (?, ?, ?)") { statement in
            try statement.bind(item.view, at: 1)
            try statement.bind(item.name, at: 2)
            try statement.bind(version, at: 3)
        }
    }

    /// Gives what is known of an item another name.
    package func rename(_ item: CircleRow, to renamed: CircleRow) throws {
        try remove(item)
        try put(renamed)
        guard item.name != renamed.name else { return }
        try run("UPDATE OR REPLACE circle_version SET name = ? WHERE view = ? AND name = ?") { statement in
            try statement.bind(renamed.name, at: 1)
            try statement.bind(item.view, at: 2)
            try statement.bind(item.name, at: 3)
        }
    }

    /// Runs `body`. What it changed is undone if it throws, and the transaction goes on.
    package func attempt<Result>(_ body: () throws -> Result) throws -> Result {
        let before = writer.touched.moment
        try writer.database.execute("SAVEPOINT circle")
        do {
            let result = try body()
            try writer.database.execute("RELEASE circle")
            return result
        } catch {
            try writer.database.execute("ROLLBACK TO circle; RELEASE circle")
            // The number of the change is undone, too: who looked for it later would find an older store.
            writer.touched.moment = before
            throw error
        }
    }

    package func remove(_ item: CircleRow) throws {
        try run("DELETE FROM circle_item WHERE view = ? AND name = ?") { statement in
            try statement.bind(item.view, at: 1)
            try statement.bind(item.name, at: 2)
        }
    }

    /// Removes an item, and what is known of its versions but one.
    package func forget(_ item: CircleRow, keeping version: Data) throws {
        try remove(item)
        try run("DELETE FROM circle_version WHERE view = ? AND name = ? AND version <> ?") { statement in
            try statement.bind(item.view, at: 1)
            try statement.bind(item.name, at: 2)
            try statement.bind(version, at: 3)
        }
    }

    package func remove(version: Data, of item: CircleRow) throws {
        try run("DELETE FROM circle_version WHERE view = ? AND name = ? AND version = ?") { statement in
            try statement.bind(item.view, at: 1)
            try statement.bind(item.name, at: 2)
            try statement.bind(version, at: 3)
        }
    }

    /// Forgets what travelled, and what is to be handed on. The items of the vault stay.
    package func forgetItems() throws {
        for table in ["circle_item", "circle_version", "circle_outgoing"] {
            try run("DELETE FROM \(table)") { _ in }
        }
    }

    /// Keeps what cannot be taken yet; what waits already waits once.
    package func wait(for parcel: CircleParcel) throws {
        try run("INSERT OR IGNORE INTO circle_waiting (kind, key, value) VALUES (?, ?, ?)") { statement in
            try statement.bind(Int64(parcel.kind), at: 1)
            try statement.bind(parcel.key, at: 2)
            try statement.bind(parcel.value, at: 3)
        }
    }

    package func removeWaiting(_ number: Int64) throws {
        try run("DELETE FROM circle_waiting WHERE id = ?") { try $0.bind(number, at: 1) }
    }

    /// Forgets all that waits but one kind.
    package func removeWaiting(except kind: UInt8) throws {
        try run("DELETE FROM circle_waiting WHERE kind <> ?") { try $0.bind(Int64(kind), at: 1) }
    }

    /// Has something handed on.
    package func hand(kind: UInt8, key: Data, value: Data) throws {
        // A number is not given again after what had it was handed on.
        let last = max(try reader.lastOutgoing ?? 0, try handedOn())
        try run("INSERT INTO circle_outgoing (number, kind, key, value) VALUES (?, ?, ?, ?)") { statement in
            try statement.bind(last + 1, at: 1)
            try statement.bind(Int64(kind), at: 2)
            try statement.bind(key, at: 3)
            try statement.bind(value, at: 4)
        }
    }

    private static let handed = "handed-on"

    private func handedOn() throws -> Int64 { try reader.state(Self.handed).map { Int64(bigEndianBytes: $0) } ?? 0 }

    /// Forgets what was handed on, up to and with a number.
    ///
    /// - Parameter kind: One of which nothing is forgotten so.
    package func removeOutgoing(through number: Int64, except kind: UInt8) throws {
        guard let last = try reader.lastOutgoing, number > 0 else { return }
        try set(Self.handed, Data(max(try handedOn(), min(number, last)).bigEndianBytes))
        try run("DELETE FROM circle_outgoing WHERE number <= ? AND kind <> ?") { statement in
            try statement.bind(number, at: 1)
            try statement.bind(Int64(kind), at: 2)
        }
    }

    /// Forgets what was to be handed on of a kind, from a key to before another one.
    package func removeOutgoing(_ kind: UInt8, from key: Data, to end: Data = Data(repeating: 0xFF, count: 64)) throws {
        try run("DELETE FROM circle_outgoing WHERE kind = ? AND key >= ? AND key < ?") { statement in
            try statement.bind(Int64(kind), at: 1)
            try statement.bind(key, at: 2)
            try statement.bind(end, at: 3)
        }
    }

    /// Forgets one thing that was to be handed on.
    package func removeOutgoing(_ parcel: CircleParcel) throws { try removeOutgoing(numbered: parcel.number) }

    package func removeOutgoing(_ label: CircleLabel) throws { try removeOutgoing(numbered: label.number) }

    private func removeOutgoing(numbered number: Int64) throws {
        try run("DELETE FROM circle_outgoing WHERE number = ?") { try $0.bind(number, at: 1) }
    }

    package func removeViewEntry(of view: Data, generation: UInt32, number: UInt32) throws {
        try run("DELETE FROM circle_view WHERE view = ? AND generation = ? AND number = ?") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(Int64(generation), at: 2)
            try statement.bind(Int64(number), at: 3)
        }
    }

    package func note(conflict record: Data, view: Data, name: Data, found: Date) throws {
        try run("INSERT INTO circle_conflict (view, name, found, record) VALUES (?, ?, ?, ?)") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(name, at: 2)
            try statement.bind(found.timeIntervalSinceReferenceDate, at: 3)
            try statement.bind(record, at: 4)
        }
    }

    package func removeConflict(_ number: Int64) throws {
        try run("DELETE FROM circle_conflict WHERE id = ?") { try $0.bind(number, at: 1) }
    }

    private func run(_ sql: String, _ bind: (SQLStatement) throws -> Void) throws {
        try writer.change(sql) { statement in
            try bind(statement)
            try statement.run()
        }
    }
}

extension ItemStore.Writer {
    /// Gives the store a copy of what another store knows of a circle.
    func copyCircle(of other: CircleReader) throws {
        guard try other.isThere else { return }
        try circle.make()
        try circle.clear()
        for table in CircleTables.names {
            let source = try other.database.statement("SELECT * FROM \(table)")
            defer { source.reset() }
            let count = source.columnCount
            let places = (0..<count).map { _ in "?" }.joined(separator: ", ")
            while try source.step() {
                try change("INSERT INTO \(table) VALUES (\(places))") { statement in
                    for column in 0..<count {
                        switch source.kind(of: column) {
                        case .integer: try statement.bind(source.integer(column) ?? 0, at: column + 1)
                        case .real: try statement.bind(source.real(column) ?? 0, at: column + 1)
                        case .text: try statement.bind(source.text(column) ?? "", at: column + 1)
                        case .blob: try statement.bind(source.blob(column) ?? Data(), at: column + 1)
                        case .null: try statement.bindNull(at: column + 1)
                        }
                    }
                    try statement.run()
                }
            }
        }
    }
}
