import Bytes
import FoundationEssentials
import Sealing
import SystemSQLite

/// A former version of an item.
package struct FormerRow: Sendable {
    /// The whole row as it was.
    package var row: ItemRow
    /// The number of the change that ended the version.
    package var ended: Int64
    package var end: VersionEnd

    package init(row: ItemRow, ended: Int64, end: VersionEnd) {
        self.row = row
        self.ended = ended
        self.end = end
    }
}

/// How a version of an item ended, as the store has it.
package enum VersionEnd: Int64, Sendable {
    /// A later version took its place.
    case replaced
    /// The item was deleted.
    case deleted
    /// A version took its place that another machine of a circle made without knowledge of it.
    case overruled
}

/// A place between two deleted items, at which another search for them goes on.
package struct DeletedPosition: Sendable, Equatable {
    /// Before the first.
    package static let start = DeletedPosition(group: .min, row: .min)

    var group: Int64
    var row: Int64
}

extension ItemStore.Reader {
    private static let selection =
        "SELECT \(ItemRow.columns(of: "former")), vault.owner, vault.sequence, ended, deleted FROM "
        + "former JOIN vault ON vault.id = 1 "
    static let formerOfRow = selection + "WHERE former.id = ? AND version <= ? ORDER BY version DESC"
    static let formerVersion = selection + "WHERE former.id = ? AND version IN (?, ?)"
    /// The last version of each deleted item that was not brought back.
    static let deleted =
        selection + """
            WHERE former.grp = ? AND deleted = 1 AND former.id > ? \
            AND former.version = (SELECT max(version) FROM former AS last WHERE last.id = former.id) \
            AND NOT EXISTS (SELECT 1 FROM item WHERE item.id = former.id AND item.flags & 2 = 0) \
            ORDER BY former.id
            """
    static let allFormer = selection + "ORDER BY former.id, version"
    static let nextFormerGroup = "SELECT grp FROM former WHERE grp >= ? ORDER BY grp LIMIT 1"

    private func former(_ statement: SQLStatement, includingCiphertext: Bool) throws(StoreError) -> FormerRow {
        let binding = try ItemRow.binding(statement)
        guard let ended = statement.integer(ItemRow.columnCount + 2),
            let end = statement.integer(ItemRow.columnCount + 3)
        else { throw .malformedRow(id: binding.rowID, reason: "end of a former version") }
        return FormerRow(
            row: try ItemRow(statement, binding: binding, includingCiphertext: includingCiphertext), ended: ended,
            // No software that is older makes other numbers than 0 and 1.
            end: VersionEnd(rawValue: end) ?? .replaced)
    }

    /// Runs `body` with the former versions of the row with this number until `body` returns false: the newest first,
    /// and without their values.
    ///
    /// - Parameters:
    ///   - last: The stored version to begin with.
    ///   - groups: The digests of the groups that count; nil for all. An item may have come from another group.
    package func forEachFormer(
        of rowID: Int64, from last: Int64 = .max, in groups: [Int64]?, _ body: (FormerRow) throws -> Bool
    ) throws {
        let statement = try database.statement(Self.formerOfRow)
        defer { statement.reset() }
        try statement.bind(rowID, at: 1)
        try statement.bind(last, at: 2)
        while try statement.step() {
            try checkOwner(statement)
            let row = try former(statement, includingCiphertext: false)
            guard groups?.contains(row.row.binding.group) ?? true else { continue }
            guard try body(row) else { return }
        }
    }

    /// Returns a former version of the row with this number; nil if there is none.
    ///
    /// - Parameter version: The version as people count: the first one of an older store has the number 0.
    package func formerRow(
        of rowID: Int64, version: Int64, in groups: [Int64]?, includingCiphertext: Bool
    ) throws -> FormerRow? {
        let statement = try database.statement(Self.formerVersion)
        defer { statement.reset() }
        try statement.bind(rowID, at: 1)
        try statement.bind(version, at: 2)
        try statement.bind(version == 1 ? 0 : version, at: 3)
        while try statement.step() {
            try checkOwner(statement)
            let binding = try ItemRow.binding(statement)
            guard groups?.contains(binding.group) ?? true else { continue }
            return try former(statement, includingCiphertext: includingCiphertext)
        }
        return nil
    }

    static let placesOfRow = "SELECT version, grp FROM former WHERE id = ? ORDER BY version"

    /// Returns where the former versions of the row with this number are, at most `limit`.
    package func formerPlaces(of rowID: Int64, in groups: [Int64]?, limit: Int) throws -> [FormerPlace] {
        let statement = try database.statement(Self.placesOfRow)
        defer { statement.reset() }
        try statement.bind(rowID, at: 1)
        var places: [FormerPlace] = []
        while places.count < limit, try statement.step() {
            guard let version = statement.integer(0) else { continue }
            if let groups, statement.integer(1).map({ !groups.contains($0) }) ?? true { continue }
            places.append(FormerPlace(row: rowID, version: version))
        }
        return places
    }

    /// Runs `body` with the last version of each deleted item that `search` accepts, without its value, until `body`
    /// returns false.
    ///
    /// - Parameter visited: Called for each row; false ends the search after it.
    /// - Returns: Where the search ended early; nil after the last.
    package func forEachDeleted(
        _ search: ItemSearch, after start: DeletedPosition = .start, visited: () -> Bool = { true },
        _ body: (FormerRow) throws -> Bool
    ) throws -> DeletedPosition? {
        var position = start
        var terms = search.terms
        let groups = search.groups?.sorted()
        func next(from group: Int64) throws -> Int64? {
            if let groups { return groups.first { $0 >= group } }
            let statement = try database.statement(Self.nextFormerGroup)
            defer { statement.reset() }
            try statement.bind(group, at: 1)
            return try statement.step() ? statement.integer(0) : nil
        }
        while let group = try next(from: position.group) {
            if group != position.group { position = DeletedPosition(group: group, row: .min) }
            let statement = try database.statement(Self.deleted)
            defer { statement.reset() }
            try statement.bind(group, at: 1)
            try statement.bind(position.row, at: 2)
            while try statement.step() {
                try checkOwner(statement)
                let row = try former(statement, includingCiphertext: false)
                position.row = row.row.binding.rowID
                if search.accepts(row.row.binding, &terms), try !body(row) { return position }
                guard visited() else { return position }
            }
            guard group < .max else { break }
            position = DeletedPosition(group: group + 1, row: .min)
        }
        return nil
    }

    /// Runs `body` for every former version, or with the reason why one cannot be read. All are those of one moment.
    package func forEachFormerRow(
        _ body: (_ place: FormerPlace, Result<FormerRow, StoreError>) throws -> Void
    ) throws {
        let statement = try database.statement(Self.allFormer)
        defer { statement.reset() }
        while try statement.step() {
            try checkOwner(statement)
            let place = FormerPlace(row: statement.integer(0) ?? 0, version: statement.integer(7) ?? 0)
            try body(
                place,
                Result { () throws(StoreError) in try former(statement, includingCiphertext: true) })
        }
    }

    /// How many former versions of an item the vault keeps if the item does not say it.
    package func defaultKept() throws -> Int {
        Int(clamping: try database.integer("SELECT keep FROM vault WHERE id = 1") ?? 0)
    }

    static let overruledOfRow = "SELECT max(version) FROM former WHERE id = ? AND deleted = 2 AND ended > ?"

    /// Returns the last version of a row that was overruled after a change; 0 for none.
    func overruled(_ rowID: Int64, since change: Int64) throws -> Int64 {
        let statement = try database.statement(Self.overruledOfRow)
        defer { statement.reset() }
        try statement.bind(rowID, at: 1)
        try statement.bind(change, at: 2)
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Whether the row with this number has former versions.
    package func hasFormerRows(_ rowID: Int64) throws -> Bool {
        let statement = try database.statement("SELECT 1 FROM former WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(rowID, at: 1)
        return try statement.step()
    }
}

/// What tells former versions apart in the store.
package struct FormerPlace: Sendable, Hashable {
    /// The number of the row.
    package var row: Int64
    /// The stored version.
    package var version: Int64

    package init(row: Int64, version: Int64) {
        self.row = row
        self.version = version
    }
}

extension ItemStore.Writer {
    /// Puts a copy of a row, which is about to change or to go, among the former versions.
    package func keepFormer(_ row: ItemRow, _ end: VersionEnd) throws {
        let number = try takeNumber()
        try change(
            """
            INSERT OR REPLACE INTO former
            SELECT id, class, pk, uuid, grp, pdmn, flags, version, change, ?, ?, terms, meta, seal, data
            FROM item WHERE id = ?
            """
        ) { statement in
            try statement.bind(number, at: 1)
            try statement.bind(end.rawValue, at: 2)
            try statement.bind(row.binding.rowID, at: 3)
            try statement.run()
        }
        touched.insert(row.binding.group)
        if touched.isMeasured {
            let size = try size(ofRow: row.binding.rowID)
            touched.grow(row.binding.group, by: size.withoutValue + size.value)
        }
    }

    /// Stores a former version from elsewhere, such as a backup.
    package func insert(_ former: FormerRow) throws {
        let number = try takeNumber()
        try put(former, change: number, ended: number)
        touched.insert(former.row.binding.group)
        touched.grow(former.row.binding.group, by: former.row.size)
    }

    func put(_ former: FormerRow, change number: Int64, ended: Int64) throws {
        try change(
            """
            INSERT OR REPLACE INTO former
                (id, class, pk, uuid, grp, pdmn, flags, version, change, terms, meta, seal, data, ended, deleted)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            """
        ) { statement in
            try statement.bind(ended, at: 14)
            try statement.bind(former.end.rawValue, at: 15)
            try former.row.run(statement, change: number)
        }
    }

    static let surplusOfRow = "SELECT id, version FROM former WHERE id = ? ORDER BY version DESC LIMIT -1 OFFSET ?"
    static let surplusOfKey = """
        SELECT id, version FROM former WHERE pk = ? ORDER BY ended DESC, version DESC LIMIT -1 OFFSET ?
        """

    /// Drops the oldest former versions of a row, so that `count` are left.
    package func dropFormer(of rowID: Int64, keeping count: Int) throws {
        try drop(Self.surplusOfRow, keeping: count) { try $0.bind(rowID, at: 1) }
    }

    /// Drops the oldest former versions of items with this primary key, so that `count` are left. So an item that is
    /// made and deleted again and again does not leave more and more.
    package func dropFormer(ofPrimaryKey digest: Data, keeping count: Int) throws {
        try drop(Self.surplusOfKey, keeping: count) { try $0.bind(digest, at: 1) }
    }

    private func drop(_ sql: String, keeping count: Int, _ bind: (SQLStatement) throws -> Void) throws {
        var surplus: [FormerPlace] = []
        do {
            let statement = try database.statement(sql)
            defer { statement.reset() }
            try bind(statement)
            try statement.bind(Int64(count), at: 2)
            while try statement.step() {
                surplus.append(FormerPlace(row: statement.integer(0) ?? 0, version: statement.integer(1) ?? 0))
            }
        }
        for place in surplus { try deleteFormer(place) }
    }

    /// Makes the last former version of a row that is gone the one by which a deleted item is found.
    package func endWithLastFormer(_ rowID: Int64) throws {
        try change(
            "UPDATE former SET deleted = 1 WHERE id = ?1 AND version = (SELECT max(version) FROM former WHERE id = ?1)"
        ) { statement in
            try statement.bind(rowID, at: 1)
            try statement.run()
        }
    }

    /// Removes a former version.
    package func deleteFormer(_ place: FormerPlace) throws {
        _ = try takeNumber()
        let statement = try database.statement(
            "SELECT grp, \(ItemRow.sqlSizeWithoutValue) + \(ItemRow.sqlSizeOfValue) FROM former "
                + "WHERE id = ? AND version = ?")
        defer { statement.reset() }
        try statement.bind(place.row, at: 1)
        try statement.bind(place.version, at: 2)
        guard try statement.step() else { return }
        let (group, size) = (statement.integer(0), statement.integer(1) ?? 0)
        statement.reset()
        touched.insert(group)
        if let group { touched.grow(group, by: -Int(size)) }
        try change("DELETE FROM former WHERE id = ? AND version = ?") { statement in
            try statement.bind(place.row, at: 1)
            try statement.bind(place.version, at: 2)
            try statement.run()
        }
    }

    static let sizeOfFormer =
        "SELECT sum(\(ItemRow.sqlSizeWithoutValue) + \(ItemRow.sqlSizeOfValue)) FROM former WHERE grp = ?"

    /// Returns how many bytes the former versions in a group take.
    func sizeOfFormer(in group: Int64) throws -> Int {
        let statement = try database.statement(Self.sizeOfFormer)
        defer { statement.reset() }
        try statement.bind(group, at: 1)
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }

    /// Sets how many former versions of an item the vault keeps if the item does not say it.
    package func setDefaultKept(_ count: Int) throws {
        try change("UPDATE vault SET keep = ? WHERE id = 1") { statement in
            try statement.bind(Int64(count), at: 1)
            try statement.run()
        }
    }

    /// Makes the next change get a number above `number`. For a store whose rows come from another one: a program that
    /// asks for changes from an earlier number is told to read everything again.
    package func continueNumbers(after number: Int64) throws {
        try change("UPDATE vault SET sequence = max(sequence, ?), cleared = max(sequence, ?) WHERE id = 1") {
            statement in
            try statement.bind(number, at: 1)
            try statement.bind(number, at: 2)
            try statement.run()
        }
    }
}
