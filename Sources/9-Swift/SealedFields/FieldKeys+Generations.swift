import Bytes
import Foundation
import GRDB
import KeychainServices
import StoredKeys

extension FieldKeys {
    /// The description of a key of a keyring, without the key itself.
    public struct Generation: Sendable, Hashable, Identifiable {
        /// Its number: 1, 2, …
        public let id: Int
        /// When it was made.
        public let created: Date
        /// Whether it is encrypted for a key of the Secure Enclave.
        public let isInEnclave: Bool

        let key: KeyReference

        var account: String { Self.account(id) }

        static func account(_ number: Int) -> String {
            KeyringItems.generationPrefix + String(number)
        }

        init?(_ item: KeyringItems.Item) {
            guard item.account.hasPrefix(KeyringItems.generationPrefix),
                let number = Int(item.account.dropFirst(KeyringItems.generationPrefix.count)),
                let key = KeyReference(item.generic)
            else { return nil }
            id = number
            created = item.created
            isInEnclave = key.enclaveKey != nil
            self.key = key
        }
    }

    /// The generations, oldest first. Asks nobody.
    ///
    /// - Throws: ``SealedFieldsError``.
    public func generations() throws -> [Generation] { try keyring.generations() }

    /// Makes a new key that seals values from now on: in this program at once, and in other running programs within 30
    /// seconds.
    ///
    /// Values that are already sealed stay unchanged until ``FieldRotation`` seals them again.
    ///
    /// - Returns: The new generation, or the one that another program added meanwhile.
    /// - Throws: ``SealedFieldsError``.
    @discardableResult
    public func addGeneration() throws -> Generation {
        let keyring = keyring
        let number = (try keyring.generations().last?.id ?? 0) + 1
        _ = try keyring.store(Generation.account(number))
        keyring.lookAgain()
        guard let newest = try keyring.generations().last else {
            throw keyring.items.damaged("the key is not where it was stored")
        }
        return newest
    }

    /// The places to check before a generation's key is removed.
    public struct Check: Sendable {
        let database: String
        let writer: (any DatabaseWriter)?

        /// Every column of every table of a database.
        ///
        /// - Parameters:
        ///   - writer: The database; it is not written meanwhile.
        ///   - sealing: The sealing that its fields have.
        public static func database(_ writer: any DatabaseWriter, sealing: FieldSealing) -> Check {
            Check(database: sealing.database, writer: writer)
        }

        /// Nothing. The program promises that a database of that name is gone, or that neither it nor its backups have
        /// a value of the generation.
        public static func nothing(inDatabaseNamed name: String) -> Check {
            Check(database: name, writer: nil)
        }
    }

    /// Removes the key of an older generation for good, once it seals no value.
    ///
    /// `checks` must contain every database that has ever used the keyring. Each one is searched in all of its columns,
    /// and nobody can write to it until the key is gone. An older copy of a database, such as a backup, can then no
    /// longer be opened.
    ///
    /// - Parameters:
    ///   - generation: One of ``generations()``, not the newest.
    ///   - checks: Where values may be.
    /// - Throws: ``SealedFieldsError/Code/keyInUse`` if there is a value, a database is missing in `checks`, the
    ///   generation is the newest, or the one after it was added less than ten minutes ago: another program may be
    ///   about to write a value that it has just sealed. What SQLite throws is thrown as it is.
    public func removeGeneration(_ generation: Generation, checking checks: [Check]) throws {
        try removeGeneration(generation, checking: checks, settledFor: 600)
    }

    func removeGeneration(_ generation: Generation, checking checks: [Check], settledFor settled: Double) throws {
        let keyring = keyring
        let all = try keyring.generations()
        guard let place = all.firstIndex(where: { $0.key.id == generation.key.id }) else { return }
        guard place + 1 < all.count else { throw keyInUse("it is the newest; add another one, and rotate the columns") }
        guard all[place + 1].created.timeIntervalSinceNow <= -settled else {
            throw keyInUse("the generation after it is younger than ten minutes; try again later")
        }
        let known = Set(checks.map(\.database))
        for database in try keyring.databases() where !known.contains(database) {
            throw keyInUse("the keyring was used for the database \(database), which is not among those to be checked")
        }
        try searching(checks[...], for: generation.key.id) {
            try keyring.items.remove(generation.account)
            try keyring.items.removeKey(generation.key)
        }
        keyring.discard()
    }

    private func keyInUse(_ reason: String) -> SealedFieldsError {
        SealedFieldsError(.keyInUse, subject: name, message: "the key cannot be removed: \(reason)")
    }

    /// Runs `body` while no database has a value of the key, and none can get one.
    private func searching(_ checks: ArraySlice<Check>, for key: FieldKeyID, _ body: () throws -> Void) throws {
        guard let check = checks.first else { return try body() }
        guard let writer = check.writer else { return try searching(checks.dropFirst(), for: key, body) }
        try writer.barrierWriteWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                if let place = try Self.firstPlace(of: key, in: db) {
                    throw keyInUse("\(check.database) has a value of it in \(place); rotate the column first")
                }
                try searching(checks.dropFirst(), for: key, body)
                return .rollback
            }
        }
    }

    private static func firstPlace(of key: FieldKeyID, in db: Database) throws -> String? {
        let headers = SealingAlgorithm.all.map { SealedForm.header($0, key) }
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
        for table in tables {
            for column in try db.columns(in: table) {
                let name = column.name.quotedDatabaseIdentifier
                let found = try Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM \(table.quotedDatabaseIdentifier)
                        WHERE substr(CAST(\(name) AS BLOB), 1, \(SealedForm.headerCount)) IN (?, ?))
                        """, arguments: StatementArguments(headers))
                if found == true { return "\(table).\(column.name)" }
            }
        }
        return nil
    }
}
