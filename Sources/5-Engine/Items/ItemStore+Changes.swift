import FoundationEssentials
import KeychainModel
import SystemSQLite

/// A place between two changes, at which another search for changes goes on.
package struct ChangePosition: Sendable, Equatable {
    /// Before the first change.
    package static let start = ChangePosition(stage: 0, group: .min, change: nil)

    /// 0 for deletions, which come first, 1 for rows.
    var stage: Int
    /// The digest of the group.
    var group: Int64
    /// The number of the last change in that group; nil before the first.
    var change: Int64?
    /// The row that came last of those with this number.
    var row: Int64 = .min
    /// The item that came last of the deletions with this number.
    var identifier = Data()
}

extension ItemStore.Reader {
    /// The number of the last change, and whether all changes after `number` are known in the groups.
    ///
    /// - Parameter groups: The digests of the groups; nil for all.
    package func knownChanges(since number: Int64, in groups: [Int64]?) throws -> KnownChanges {
        let statement = try database.statement("SELECT sequence, cleared, owner FROM vault WHERE id = 1")
        defer { statement.reset() }
        guard try statement.step(), let sequence = statement.integer(0), let cleared = statement.integer(1) else {
            throw StoreError.corrupt(reason: "the store has no number for a change")
        }
        let owner = statement.withBlob(2) { UUID(bytes: $0) } ?? nil
        guard keybag == nil || owner == keybag else { throw StoreError.otherKeybag }
        // Who knows nothing yet misses no deletion.
        if number == 0 { return KnownChanges(next: sequence, isComplete: true) }
        // A number that was never given comes from another store, or from a later state of this one.
        guard number > 0, number <= sequence, number >= cleared else {
            return KnownChanges(next: sequence, isComplete: false)
        }
        return KnownChanges(next: sequence, isComplete: try lastDropped(in: groups) <= number)
    }

    static let dropped = "SELECT dropped FROM trail WHERE grp = ?"

    /// The number of the last change of which a deletion was dropped; 0 if there is none.
    private func lastDropped(in groups: [Int64]?) throws -> Int64 {
        guard let groups else { return try database.integer("SELECT max(dropped) FROM trail") ?? 0 }
        return try groups.reduce(0) { last, group in
            let statement = try database.statement(Self.dropped)
            defer { statement.reset() }
            try statement.bind(group, at: 1)
            return try statement.step() ? max(last, statement.integer(0) ?? 0) : last
        }
    }

    /// Runs `body` with what happened to items after the change `since` and up to the change `last`, until `body`
    /// returns false. Of each item that is there, it tells the last change.
    ///
    /// All deletions come first. So what comes last of an item tells whether it is there, also after it has moved to
    /// another group.
    ///
    /// - Parameters:
    ///   - groups: The digests of the groups; nil for all. No row of another group is visited.
    ///   - start: Where an earlier search with the same conditions ended.
    /// - Returns: Where the search ended early; nil after the last.
    package func forEachChange(
        since: Int64, through last: Int64, in groups: [Int64]?, after start: ChangePosition = .start,
        _ body: (ChangedItem) throws -> Bool
    ) throws -> ChangePosition? {
        var position = start
        while position.stage < 2 {
            let groups = groups?.sorted().drop { $0 < position.group }
            var next = try groups.map { $0.first } ?? nextGroup(from: position.group, stage: position.stage)
            while let group = next {
                if group != position.group {
                    position = ChangePosition(stage: position.stage, group: group, change: nil)
                }
                guard try visit(&position, since: since, through: last, body) else { return position }
                guard group < .max else { break }
                if let groups {
                    next = groups.first { $0 > group }
                } else {
                    next = try nextGroup(from: group + 1, stage: position.stage)
                }
            }
            position = ChangePosition(stage: position.stage + 1, group: .min, change: nil)
        }
        return nil
    }

    static let nextChangedGroup = [
        "SELECT grp FROM deletion WHERE grp >= ? ORDER BY grp LIMIT 1",
        "SELECT grp FROM item WHERE grp >= ? ORDER BY grp LIMIT 1",
    ]

    private func nextGroup(from group: Int64, stage: Int) throws -> Int64? {
        let statement = try database.statement(Self.nextChangedGroup[stage])
        defer { statement.reset() }
        try statement.bind(group, at: 1)
        return try statement.step() ? statement.integer(0) : nil
    }

    private static let deletions = "SELECT class, uuid, change, 3, 0, 0 FROM deletion WHERE grp = ?"
    private static let rows = "SELECT class, uuid, change, flags, version, id FROM item WHERE grp = ?"
    /// What is left of the change with which an earlier search ended.
    static let restOfChange = [
        deletions + " AND change = ? AND uuid > ? ORDER BY uuid", rows + " AND change = ? AND id > ? ORDER BY id",
    ]
    static let laterChanges = [
        deletions + " AND change > ? AND change <= ? ORDER BY change, uuid",
        rows + " AND change > ? AND change <= ? ORDER BY change, id",
    ]

    /// Visits the changes of one group from `position` on, and moves it.
    ///
    /// - Returns: Whether the last was reached.
    private func visit(
        _ position: inout ChangePosition, since: Int64, through last: Int64, _ body: (ChangedItem) throws -> Bool
    ) throws -> Bool {
        let (stage, group) = (position.stage, position.group)
        if let change = position.change {
            let rest = try database.statement(Self.restOfChange[stage])
            try rest.bind(group, at: 1)
            try rest.bind(change, at: 2)
            if stage == 0 {
                try rest.bind(position.identifier, at: 3)
            } else {
                try rest.bind(position.row, at: 3)
            }
            guard try visit(rest, &position, since, body) else { return false }
        }
        let later = try database.statement(Self.laterChanges[stage])
        try later.bind(group, at: 1)
        try later.bind(max(since, position.change ?? since), at: 2)
        try later.bind(last, at: 3)
        return try visit(later, &position, since, body)
    }

    private func visit(
        _ statement: SQLStatement, _ position: inout ChangePosition, _ since: Int64,
        _ body: (ChangedItem) throws -> Bool
    ) throws -> Bool {
        defer { statement.reset() }
        // Nothing overrules in a vault that is in no circle.
        let isInCircle = try position.stage > 0 && circle.isThere
        while try statement.step() {
            guard let change = statement.integer(2), let flags = statement.integer(3) else { continue }
            position.change = change
            position.row = statement.integer(5) ?? .min
            position.identifier = statement.blob(1) ?? Data()
            // What is malformed is reported by a check of the rows.
            guard let code = statement.integer(0).flatMap(UInt8.init(exactly:)),
                let itemClass = ItemClass(storedCode: code),
                let identifier = statement.withBlob(1, { UUID(bytes: $0) }) ?? nil,
                let version = statement.integer(4)
            else { continue }
            let item = ChangedItem(
                itemClass: itemClass, identifier: identifier, change: change,
                version: flags & 2 != 0 ? 0 : max(version, 1),
                overruled: isInCircle ? try overruled(position.row, since: since) : 0)
            guard try body(item) else { return false }
        }
        return true
    }
}

extension ItemStore.Writer {
    /// The most deletions that the store remembers for one group. It drops the oldest. A program that asks for changes
    /// from before a dropped deletion is told to read everything again.
    package static let mostDeletions = 10_000

    /// Notes that an item left its group.
    func mark(_ row: OldRow) throws {
        let number = try takeNumber()
        // A row that is malformed is in no group that somebody asks for.
        guard let group = row.group, let identifier = row.identifier, let itemClass = row.itemClass else { return }
        try change("INSERT OR REPLACE INTO deletion (grp, change, uuid, class) VALUES (?, ?, ?, ?)") { statement in
            try statement.bind(group, at: 1)
            try statement.bind(number, at: 2)
            try statement.bind(identifier, at: 3)
            try statement.bind(itemClass, at: 4)
            try statement.run()
        }
        try change(
            "INSERT INTO trail (grp, marks, dropped) VALUES (?, 1, 0) ON CONFLICT (grp) DO UPDATE SET marks = marks + 1"
        ) { statement in
            try statement.bind(group, at: 1)
            try statement.run()
        }
        try dropOldDeletions(of: group)
    }

    static let oldestDeletion = """
        SELECT change, count(*) FROM deletion \
        WHERE grp = ?1 AND change = (SELECT min(change) FROM deletion WHERE grp = ?1)
        """

    private func dropOldDeletions(of group: Int64) throws {
        while try marks(of: group) > Self.mostDeletions {
            let oldest = try database.statement(Self.oldestDeletion)
            defer { oldest.reset() }
            try oldest.bind(group, at: 1)
            guard try oldest.step(), let dropped = oldest.integer(0), let count = oldest.integer(1) else { return }
            oldest.reset()
            try change("DELETE FROM deletion WHERE grp = ? AND change = ?") { statement in
                try statement.bind(group, at: 1)
                try statement.bind(dropped, at: 2)
                try statement.run()
            }
            try change("UPDATE trail SET marks = marks - ?, dropped = ? WHERE grp = ?") { statement in
                try statement.bind(count, at: 1)
                try statement.bind(dropped, at: 2)
                try statement.bind(group, at: 3)
                try statement.run()
            }
        }
    }

    private func marks(of group: Int64) throws -> Int64 {
        let statement = try database.statement("SELECT marks FROM trail WHERE grp = ?")
        defer { statement.reset() }
        try statement.bind(group, at: 1)
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }
}
