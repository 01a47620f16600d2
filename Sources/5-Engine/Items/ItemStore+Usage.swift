import SystemSQLite

/// How much access groups hold.
extension ItemStore.Reader {
    /// Returns the digests of the groups that have rows or former versions, in order.
    package func groups() throws -> [Int64] {
        if keybag != nil { try checkVault() }
        // The indexes begin with the group.
        let statement = try database.statement("SELECT grp FROM item UNION SELECT grp FROM former ORDER BY 1")
        defer { statement.reset() }
        var groups: [Int64] = []
        while try statement.step() { if let group = statement.integer(0) { groups.append(group) } }
        return groups
    }

    private static let sizeOfRow = "\(ItemRow.sqlSizeWithoutValue) + \(ItemRow.sqlSizeOfValue)"
    static let usageOfItems = "SELECT sum(flags & 2 = 0), sum(\(sizeOfRow)) FROM item WHERE grp = ?"
    static let usageOfFormer = "SELECT 0, sum(\(sizeOfRow)) FROM former WHERE grp = ?"

    /// Returns the number of items of a group, and the bytes that count for its quota: those of its rows and of former
    /// versions.
    package func usage(of group: Int64) throws -> (items: Int, bytes: Int) {
        var (items, bytes) = (0, 0)
        for sql in [Self.usageOfItems, Self.usageOfFormer] {
            let statement = try database.statement(sql)
            defer { statement.reset() }
            try statement.bind(group, at: 1)
            guard try statement.step() else { continue }
            items += statement.integer(0).flatMap(Int.init(exactly:)) ?? 0
            bytes += statement.integer(1).flatMap(Int.init(exactly:)) ?? 0
        }
        return (items, bytes)
    }

    /// Runs `body` with the rows of a group and then with its former versions, without their values, until it returns
    /// false. Skips rows that are malformed.
    package func forEachRow(inGroup group: Int64, _ body: (ItemRow) throws -> Bool) throws {
        for table in ["item", "former"] {
            let statement = try database.statement(
                "SELECT \(ItemRow.columns(of: table)) FROM \(table) WHERE grp = ? LIMIT \(Self.mostRowsOfGroup)")
            defer { statement.reset() }
            try statement.bind(group, at: 1)
            while try statement.step() {
                guard let binding = try? ItemRow.binding(statement),
                    let row = try? ItemRow(statement, binding: binding, includingCiphertext: false)
                else { continue }
                guard try body(row) else { return }
            }
        }
    }

    /// The most rows that are read to find one that can be opened.
    private static let mostRowsOfGroup = 10_000
}
