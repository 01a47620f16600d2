import Bytes
import CSQLite
import DatabasePages
import DatabaseVFS
import SystemSQLite

/// The file of an item store, to which each of its connections leads.
enum StoreFile: Sendable {
    /// A database whose pages are sealed, so that nothing but the key reads it, and nobody puts back an older page.
    case encrypted(DatabaseRegistration)
    /// A database of the format before, or in memory.
    case plain(String)

    static func encrypted(_ path: String, key: SecretBytes) throws(StoreError) -> StoreFile {
        do throws(RegistrationError) {
            return .encrypted(try EncryptingVFS.register(path: path, key: key))
        } catch {
            throw .inputOutput(reason: error.description)
        }
    }

    /// - Parameter limit: How many statements the connection keeps.
    func connect(_ access: SQLConnection.Access, keeping limit: Int) throws(SQLiteError) -> SQLConnection {
        switch self {
        case .encrypted(let registration):
            try SQLConnection(registration.uri, access, isURI: true, keeping: limit)
        case .plain(let path): try SQLConnection(path, access, keeping: limit)
        }
    }

    /// Runs `body`. Gives a failure of SQLite the cause that the encrypted file knows, which SQLite does not.
    func explaining<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            guard case .encrypted(let registration) = self, Self.vague.contains(error.code),
                let failure = registration.takeFailure()
            else { throw error }
            throw StoreError(failure)
        }
    }

    private static let vague: Set<Int32> = [SQLITE_IOERR, SQLITE_NOTADB, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_FULL]
}

extension StoreError {
    fileprivate init(_ failure: VFSFailure) {
        self =
            switch failure {
            case .diskFull, .index(.diskFull): .diskFull
            case .index(.readOnly): .readOnly
            case .index(.inUse), .inUse: .busy
            case .memoryUnavailable, .page(.memoryUnavailable), .index(.memoryUnavailable): .memoryUnavailable
            case .stalePage(let page): .corrupt(reason: "page \(page) is an older version")
            case .missingPage(let page): .corrupt(reason: "the file ends before page \(page)")
            case .page: .corrupt(reason: "a page does not verify")
            case .notDatabase, .notEncrypted: .corrupt(reason: "not an item store")
            case .index(.missing): .corrupt(reason: "its page index is missing")
            case .index(.older): .corrupt(reason: "its page index is an older version")
            case .index(.wrongKey), .index(.foreign): .corrupt(reason: "its page index is of another store")
            case .index(.damaged): .corrupt(reason: "its page index is damaged")
            case .foreignLog, .incompleteLog: .corrupt(reason: "its log is of another time")
            case .damagedFrame: .corrupt(reason: "its log is damaged")
            case .foreignJournal, .damagedJournal: .corrupt(reason: "there is a journal that is not its own")
            default: .inputOutput(reason: failure.description)
            }
    }
}
