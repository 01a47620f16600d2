import FoundationEssentials

/// The tables that a vault has while it is, or was, in a circle. Documentation/Specify/Formats/ItemStore.md specifies
/// them.
enum CircleTables {
    /// The version of a store that has them: that of any other, and one more. A vault that never was in a circle stays
    /// readable for programs that know of none.
    static let version = Schema.version + 1

    static let all = [
        state, log, key, view, writer, item, itemRow, itemIdentifier, versions, waiting, conflict,
        outgoing,
    ]

    /// What the vault knows of its own place in the circle, by name.
    private static let state =
        """
        CREATE TABLE circle_state (
            name TEXT PRIMARY KEY,
            value BLOB NOT NULL
        ) WITHOUT ROWID
        """

    private static let log =
        """
        CREATE TABLE circle_log (
            number INTEGER PRIMARY KEY,
            entry BLOB NOT NULL
        )
        """

    /// Keys of views, and the circle's own, sealed under a class key of the vault.
    private static let key =
        """
        CREATE TABLE circle_key (
            view BLOB NOT NULL,
            generation INTEGER NOT NULL,
            class INTEGER NOT NULL,
            key BLOB NOT NULL,
            PRIMARY KEY (view, generation, class)
        ) WITHOUT ROWID
        """

    /// Entries of the chains of views that the vault holds.
    private static let view =
        """
        CREATE TABLE circle_view (
            view BLOB NOT NULL,
            generation INTEGER NOT NULL,
            number INTEGER NOT NULL,
            entry BLOB NOT NULL,
            PRIMARY KEY (view, generation, number)
        ) WITHOUT ROWID
        """

    private static let writer =
        """
        CREATE TABLE circle_writer (
            member INTEGER NOT NULL,
            serial INTEGER NOT NULL,
            certificate BLOB NOT NULL,
            PRIMARY KEY (member, serial)
        ) WITHOUT ROWID
        """

    /// The version of each item that is in force. `row` is the item's row, or the last one it had, and `local` the
    /// version of the row that stands for the circle's. `generation` and `author` are what the record says of itself.
    private static let item =
        """
        CREATE TABLE circle_item (
            view BLOB NOT NULL,
            name BLOB NOT NULL,
            row INTEGER NOT NULL,
            uuid BLOB NOT NULL,
            local INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            author INTEGER NOT NULL,
            record BLOB NOT NULL,
            PRIMARY KEY (view, name)
        ) WITHOUT ROWID
        """

    private static let itemRow = "CREATE INDEX circle_item_row ON circle_item (row)"

    private static let itemIdentifier = "CREATE INDEX circle_item_uuid ON circle_item (uuid)"

    /// All versions of items that were in force, or that came too late to be: each is taken once.
    private static let versions =
        """
        CREATE TABLE circle_version (
            view BLOB NOT NULL,
            name BLOB NOT NULL,
            version BLOB NOT NULL,
            PRIMARY KEY (view, name, version)
        ) WITHOUT ROWID
        """

    /// What came and cannot be taken yet: because the vault is locked, or because something else has to come first.
    private static let waiting =
        """
        CREATE TABLE circle_waiting (
            id INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            key BLOB NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (kind, key, value)
        )
        """

    /// Versions that lost against others that were made without knowledge of them.
    private static let conflict =
        """
        CREATE TABLE circle_conflict (
            id INTEGER PRIMARY KEY,
            view BLOB NOT NULL,
            name BLOB NOT NULL,
            found REAL NOT NULL,
            record BLOB NOT NULL
        )
        """

    /// What was made here and is to be handed on.
    private static let outgoing =
        """
        CREATE TABLE circle_outgoing (
            number INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            key BLOB NOT NULL,
            value BLOB NOT NULL
        )
        """

    static let names = [
        "circle_state", "circle_log", "circle_key", "circle_view", "circle_writer", "circle_item", "circle_version",
        "circle_waiting", "circle_conflict", "circle_outgoing",
    ]
}

/// The version of an item that is in force in a circle.
package struct CircleRow: Sendable {
    /// The view and the item's name in it, 16 bytes each.
    package var view: Data
    package var name: Data
    /// The number of the item's row.
    package var row: Int64
    package var identifier: UUID
    /// The version of that row which the record is.
    package var local: Int64
    /// The generation of the view's key, and the member that made the version.
    package var generation: UInt32
    package var author: UInt32
    package var record: Data

    package init(
        view: Data, name: Data, row: Int64, identifier: UUID, local: Int64, generation: UInt32, author: UInt32,
        record: Data
    ) {
        (self.view, self.name, self.row, self.identifier) = (view, name, row, identifier)
        (self.local, self.generation, self.author, self.record) = (local, generation, author, record)
    }
}

/// Something on its way into or out of the circle, with the number of its row.
package struct CircleParcel: Sendable {
    package var number: Int64
    package var kind: UInt8
    package var key: Data
    package var value: Data

    package init(number: Int64, kind: UInt8, key: Data, value: Data) {
        (self.number, self.kind, self.key, self.value) = (number, kind, key, value)
    }
}

/// What is known of something on its way out without reading it: the number of its row, its key, and the bytes of its
/// value.
package struct CircleLabel: Sendable {
    package let number: Int64
    package let key: Data
    package let size: Int
}

extension ItemStore.Reader {
    /// Reads what the vault knows of its circle.
    package var circle: CircleReader { CircleReader(database: database) }
}

extension ItemStore.Writer {
    /// Changes what the vault knows of its circle.
    package var circle: CircleWriter { CircleWriter(writer: self) }
}
