import Bytes
import FoundationEssentials
import SystemSQLite

/// Reads the tables of a circle, in a read or a transaction.
package struct CircleReader {
    let database: SQLConnection

    /// Whether the store has the tables.
    package var isThere: Bool { get throws { try Schema.version(of: database) == CircleTables.version } }

    package func state(_ name: String) throws -> Data? {
        try first("SELECT value FROM circle_state WHERE name = ?", { try $0.bind(name, at: 1) }) { $0.blob(0) }
    }

    /// The names of states that begin with `prefix`, ascending.
    package func states(withPrefix prefix: String) throws -> [(name: String, value: Data)] {
        try all("SELECT name, value FROM circle_state WHERE substr(name, 1, ?) = ? ORDER BY name") { statement in
            try statement.bind(Int64(prefix.utf8.count), at: 1)
            try statement.bind(prefix, at: 2)
        } _: { row in
            row.text(0).flatMap { name in row.blob(1).map { (name, $0) } }
        }
    }

    /// The entries of the log from a number on.
    package func log(from number: UInt32) throws -> [Data] {
        try all(
            "SELECT entry FROM circle_log WHERE number >= ? ORDER BY number", { try $0.bind(Int64(number), at: 1) }
        ) { $0.blob(0) }
    }

    package func log(at number: UInt32) throws -> Data? {
        try first("SELECT entry FROM circle_log WHERE number = ?", { try $0.bind(Int64(number), at: 1) }) { $0.blob(0) }
    }

    package func key(of view: Data, generation: UInt32, class keyClass: UInt8) throws -> Data? {
        try first("SELECT key FROM circle_key WHERE view = ? AND generation = ? AND class = ?") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(Int64(generation), at: 2)
            try statement.bind(Int64(keyClass), at: 3)
        } _: {
            $0.blob(0)
        }
    }

    /// The views with entries, and the last entry of each.
    package func views() throws -> [Data] {
        try all(
            """
            SELECT entry FROM circle_view AS present WHERE NOT EXISTS (SELECT 1 FROM circle_view AS later \
            WHERE later.view = present.view AND (later.generation, later.number) > (present.generation, present.number)) \
            ORDER BY view
            """
        ) { $0.blob(0) }
    }

    /// The generations of a view of which there are keys, ascending.
    package func generations(of view: Data) throws -> [UInt32] {
        try all(
            "SELECT DISTINCT generation FROM circle_key WHERE view = ? ORDER BY generation",
            { try $0.bind(view, at: 1) }
        ) { $0.integer(0).flatMap(UInt32.init(exactly:)) }
    }

    /// The entry of a view's chain with this place.
    package func viewEntry(of view: Data, generation: UInt32, number: UInt32) throws -> Data? {
        try first("SELECT entry FROM circle_view WHERE view = ? AND generation = ? AND number = ?") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(Int64(generation), at: 2)
            try statement.bind(Int64(number), at: 3)
        } _: {
            $0.blob(0)
        }
    }

    package func writer(_ member: UInt32, serial: UInt16) throws -> Data? {
        try first("SELECT certificate FROM circle_writer WHERE member = ? AND serial = ?") { statement in
            try statement.bind(Int64(member), at: 1)
            try statement.bind(Int64(serial), at: 2)
        } _: {
            $0.blob(0)
        }
    }

    /// All certificates of writers.
    package func writers() throws -> [(member: UInt32, serial: UInt16, certificate: Data)] {
        try all("SELECT member, serial, certificate FROM circle_writer ORDER BY member, serial") { row in
            guard let member = row.integer(0).flatMap(UInt32.init(exactly:)),
                let serial = row.integer(1).flatMap(UInt16.init(exactly:)), let certificate = row.blob(2)
            else { return nil }
            return (member, serial, certificate)
        }
    }

    /// All entries of the chains of views.
    package func viewEntries() throws -> [Data] {
        try all("SELECT entry FROM circle_view ORDER BY view, generation, number") { $0.blob(0) }
    }

    private static let itemColumns = "SELECT view, name, row, uuid, local, generation, author, record FROM circle_item"

    package func item(_ name: Data, in view: Data) throws -> CircleRow? {
        try first(Self.itemColumns + " WHERE view = ? AND name = ?") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(name, at: 2)
        } _: {
            Self.item($0)
        }
    }

    /// The items that a row stands for: one, or several after it got another name.
    package func items(ofRow row: Int64) throws -> [CircleRow] {
        try all(Self.itemColumns + " WHERE row = ?", { try $0.bind(row, at: 1) }) { Self.item($0) }
    }

    package func items(with identifier: UUID) throws -> [CircleRow] {
        try all(Self.itemColumns + " WHERE uuid = ?", { try $0.bind(identifier.bytes, at: 1) }) { Self.item($0) }
    }

    /// Items whose records are under keys of generations before `generation`, at most `limit`.
    ///
    /// - Parameter authors: Members whose versions are left out.
    package func items(
        in view: Data, before generation: UInt32, exceptBy authors: [UInt32], limit: Int
    ) throws -> [CircleRow] {
        let isLeftOut =
            authors.isEmpty ? "" : " AND author NOT IN (\(authors.map(String.init).joined(separator: ", ")))"
        return try all(
            Self.itemColumns + " WHERE view = ? AND generation < ?" + isLeftOut + " ORDER BY name LIMIT ?"
        ) { statement in
            try statement.bind(view, at: 1)
            try statement.bind(Int64(generation), at: 2)
            try statement.bind(Int64(limit), at: 3)
        } _: {
            Self.item($0)
        }
    }

    /// Whether a version of an item, 12 bytes, was noted.
    package func hasVersion(_ version: Data, of item: CircleRow) throws -> Bool {
        try hasVersion(version, named: item.name, in: item.view)
    }

    package func hasVersion(_ version: Data, named name: Data, in view: Data) throws -> Bool {
        try first("SELECT 1 FROM circle_version WHERE view = ? AND name = ? AND version = ?") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(name, at: 2)
            try statement.bind(version, at: 3)
        } _: {
            $0.integer(0)
        } != nil
    }

    /// Whether a version of any item of a view was noted.
    package func hasVersion(_ version: Data, in view: Data) throws -> Bool {
        try first("SELECT 1 FROM circle_version WHERE view = ? AND version = ?") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(version, at: 2)
        } _: {
            $0.integer(0)
        } != nil
    }

    /// The greatest version of an item that was noted; nil if there is none.
    package func lastVersion(of name: Data, in view: Data) throws -> Data? {
        try first("SELECT max(version) FROM circle_version WHERE view = ? AND name = ?") { statement in
            try statement.bind(view, at: 1)
            try statement.bind(name, at: 2)
        } _: {
            $0.blob(0)
        }
    }

    /// The versions of an item that were noted and are before `version`.
    package func versions(of item: CircleRow, before version: Data) throws -> [Data] {
        try all("SELECT version FROM circle_version WHERE view = ? AND name = ? AND version < ?") { statement in
            try statement.bind(item.view, at: 1)
            try statement.bind(item.name, at: 2)
            try statement.bind(version, at: 3)
        } _: {
            $0.blob(0)
        }
    }

    /// Items of which versions before `version` were noted, and not only that which is in force.
    package func items(withVersionsBefore version: Data, limit: Int) throws -> [CircleRow] {
        try all(
            Self.itemColumns + """
                 WHERE EXISTS (SELECT 1 FROM circle_version AS noted WHERE noted.view = circle_item.view \
                AND noted.name = circle_item.name AND noted.version < ? \
                AND noted.version <> substr(circle_item.record, 11, 12)) LIMIT ?
                """
        ) { statement in
            try statement.bind(version, at: 1)
            try statement.bind(Int64(limit), at: 2)
        } _: {
            Self.item($0)
        }
    }

    /// Items that were deleted, by versions before `version`.
    package func tombstones(before version: Data) throws -> [CircleRow] {
        try all(
            Self.itemColumns + " WHERE substr(record, 6, 1) IN (x'02', x'12') AND substr(record, 11, 12) < ?",
            { try $0.bind(version, at: 1) }
        ) { Self.item($0) }
    }

    package func countOfItems(in view: Data) throws -> Int {
        try first("SELECT count(*) FROM circle_item WHERE view = ?", { try $0.bind(view, at: 1) }) {
            $0.integer(0).map { Int($0) }
        } ?? 0
    }

    private static func item(_ row: SQLStatement) -> CircleRow? {
        guard let view = row.blob(0), let name = row.blob(1), let number = row.integer(2),
            let identifier = row.withBlob(3, { UUID(bytes: $0) }) ?? nil, let local = row.integer(4),
            let generation = row.integer(5).flatMap(UInt32.init(exactly:)),
            let author = row.integer(6).flatMap(UInt32.init(exactly:)), let record = row.blob(7)
        else { return nil }
        return CircleRow(
            view: view, name: name, row: number, identifier: identifier, local: local, generation: generation,
            author: author, record: record)
    }

    /// What waits, in the order in which it came.
    ///
    /// - Parameter kind: One that is left out.
    package func waiting(limit: Int, except kind: UInt8? = nil) throws -> [CircleParcel] {
        try parcels(
            "SELECT id, kind, key, value FROM circle_waiting WHERE kind <> ? ORDER BY id LIMIT ?", Int64(kind ?? 0),
            limit)
    }

    /// What waits of one kind and has a key that begins so.
    package func waiting(of kind: UInt8, keyPrefix prefix: Data) throws -> [CircleParcel] {
        try all(
            "SELECT id, kind, key, value FROM circle_waiting WHERE kind = ? AND substr(key, 1, ?) = ? ORDER BY id"
        ) { statement in
            try statement.bind(Int64(kind), at: 1)
            try statement.bind(Int64(prefix.count), at: 2)
            try statement.bind(prefix, at: 3)
        } _: {
            Self.parcel($0)
        }
    }

    package func countOfWaiting(except kind: UInt8? = nil) throws -> Int {
        try first("SELECT count(*) FROM circle_waiting WHERE kind <> ?", { try $0.bind(Int64(kind ?? 0), at: 1) }) {
            $0.integer(0).map { Int($0) }
        } ?? 0
    }

    /// How many bytes wait.
    package func bytesOfWaiting(except kind: UInt8) throws -> Int {
        try first(
            "SELECT sum(length(value)) FROM circle_waiting WHERE kind <> ?", { try $0.bind(Int64(kind), at: 1) }
        ) { $0.integer(0).map { Int($0) } } ?? 0
    }

    /// What is to be handed on, in the order in which it was made.
    ///
    /// - Parameter kind: One that is left out.
    package func outgoing(except kind: UInt8? = nil, limit: Int) throws -> [CircleParcel] {
        try parcels(
            "SELECT number, kind, key, value FROM circle_outgoing WHERE kind <> ? ORDER BY number LIMIT ?",
            Int64(kind ?? 0), limit)
    }

    /// What of one kind is to be handed on, in the order in which it was made.
    package func outgoing(of kind: UInt8) throws -> [CircleParcel] {
        try parcels(
            "SELECT number, kind, key, value FROM circle_outgoing WHERE kind = ? ORDER BY number LIMIT ?", Int64(kind),
            .max)
    }

    /// What of one kind is to be handed on, without the contents, in the order in which it was made.
    package func labels(of kind: UInt8) throws -> [CircleLabel] {
        try all("SELECT number, key, length(value) FROM circle_outgoing WHERE kind = ? ORDER BY number") { statement in
            try statement.bind(Int64(kind), at: 1)
        } _: { row in
            guard let number = row.integer(0), let key = row.blob(1), let size = row.integer(2) else { return nil }
            return CircleLabel(number: number, key: key, size: Int(size))
        }
    }

    /// What is to be handed on and has this label.
    package func outgoing(_ label: CircleLabel) throws -> CircleParcel? {
        try parcels(
            "SELECT number, kind, key, value FROM circle_outgoing WHERE number = ? LIMIT ?", label.number, 1
        ).first
    }

    /// Whether something of a kind still has to be handed on.
    package func isOutgoing(_ value: Data, _ kind: UInt8) throws -> Bool {
        try first("SELECT 1 FROM circle_outgoing WHERE kind = ? AND value = ?") { statement in
            try statement.bind(Int64(kind), at: 1)
            try statement.bind(value, at: 2)
        } _: {
            $0.integer(0)
        } != nil
    }

    /// Whether anything of a kind still has to be handed on. A value of 12 bytes is no object, but a note beside.
    package func hasOutgoing(_ kind: UInt8) throws -> Bool {
        try first(
            "SELECT 1 FROM circle_outgoing WHERE kind = ? AND length(value) > 12 LIMIT 1",
            { try $0.bind(Int64(kind), at: 1) }
        ) {
            $0.integer(0)
        } != nil
    }

    /// The number of what was made last; nil if nothing is to be handed on.
    var lastOutgoing: Int64? {
        get throws { try first("SELECT max(number) FROM circle_outgoing", { _ in }) { $0.integer(0) } }
    }

    /// How many objects are to be handed on. A value of 12 bytes is a note beside one. Reads the whole table.
    package func countOfOutgoing() throws -> Int {
        try first("SELECT count(*) FROM circle_outgoing WHERE length(value) > 12", { _ in }) {
            $0.integer(0).map { Int($0) }
        } ?? 0
    }

    /// Whether something with a number above `number`, and of another kind than `kind`, is to be handed on.
    package func hasOutgoing(except kind: UInt8, after number: Int64) throws -> Bool {
        try first("SELECT 1 FROM circle_outgoing WHERE number > ? AND kind <> ? LIMIT 1") { statement in
            try statement.bind(number, at: 1)
            try statement.bind(Int64(kind), at: 2)
        } _: {
            $0.integer(0)
        } != nil
    }

    private func parcels(_ sql: String, _ number: Int64, _ limit: Int) throws -> [CircleParcel] {
        try all(sql) { statement in
            try statement.bind(number, at: 1)
            try statement.bind(Int64(limit), at: 2)
        } _: {
            Self.parcel($0)
        }
    }

    private static func parcel(_ row: SQLStatement) -> CircleParcel? {
        guard let number = row.integer(0), let kind = row.integer(1).flatMap(UInt8.init(exactly:)),
            let key = row.blob(2), let value = row.blob(3)
        else { return nil }
        return CircleParcel(number: number, kind: kind, key: key, value: value)
    }

    /// The versions that lost, the last found first.
    package func conflicts() throws -> [(number: Int64, view: Data, name: Data, found: Date, record: Data)] {
        try all("SELECT id, view, name, found, record FROM circle_conflict ORDER BY id DESC") { row in
            guard let number = row.integer(0), let view = row.blob(1), let name = row.blob(2), let found = row.real(3),
                let record = row.blob(4)
            else { return nil }
            return (number, view, name, Date(timeIntervalSinceReferenceDate: found), record)
        }
    }

    static let changed = """
        SELECT change, id, version FROM item WHERE grp = ? AND (change, id) > (?, ?) ORDER BY change, id LIMIT ?
        """

    /// The rows of a group that a change after `change` made, or that change itself to rows after `row`.
    ///
    /// - Returns: At most `limit`, in the order of their changes.
    package func changedRows(
        inGroup group: Int64, after change: Int64, row: Int64, limit: Int
    ) throws -> [(change: Int64, row: Int64, version: Int64)] {
        try all(Self.changed) { statement in
            try statement.bind(group, at: 1)
            try statement.bind(change, at: 2)
            try statement.bind(row, at: 3)
            try statement.bind(Int64(limit), at: 4)
        } _: { row in
            guard let change = row.integer(0), let number = row.integer(1), let version = row.integer(2) else {
                return nil
            }
            return (change, number, max(version, 1))
        }
    }

    private func first<Value>(
        _ sql: String, _ bind: (SQLStatement) throws -> Void, _ value: (SQLStatement) throws -> Value?
    ) throws -> Value? {
        let statement = try database.statement(sql)
        defer { statement.reset() }
        try bind(statement)
        return try statement.step() ? try value(statement) : nil
    }

    private func all<Value>(
        _ sql: String, _ bind: (SQLStatement) throws -> Void = { _ in }, _ value: (SQLStatement) throws -> Value?
    ) throws -> [Value] {
        let statement = try database.statement(sql)
        defer { statement.reset() }
        try bind(statement)
        var values: [Value] = []
        while try statement.step() {
            guard let value = try value(statement) else { throw StoreError.corrupt(reason: "a row of the circle") }
            values.append(value)
        }
        return values
    }
}
