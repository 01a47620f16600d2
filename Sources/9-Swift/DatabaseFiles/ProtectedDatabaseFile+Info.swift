import CLibrary
import DataProtectionEssentials
import DatabasePages
import DatabaseVFS
import FoundationEssentials
import KeychainModel
import StoredKeys
import SystemSQLite

extension ProtectedDatabaseFile {
    /// What a database tells of itself without its key. None of it is authenticated: it is what the files say.
    public struct Info: Sendable {
        /// Whether it is encrypted; otherwise it is a plain SQLite database.
        public let isEncrypted: Bool
        /// Bytes of the database's file.
        public let size: UInt64
        /// Bytes of a page; nil for a plain database.
        public let pageSize: Int?
        /// 20 hexadecimal digits that tell the database from all others; nil for a plain one.
        public let identifier: String?
        /// Where its key is kept; nil if it has none, or none that this program may see.
        public let key: KeyInfo?
    }

    /// Where the key of a database is kept.
    public struct KeyInfo: Sendable {
        /// The kinds of places.
        public enum Place: Sendable, Hashable, CustomStringConvertible {
            /// An item of the keychain.
            case keychain
            /// An item of the keychain that is encrypted for a key of the Secure Enclave.
            case enclave
            /// A protected file beside the database.
            case file

            /// As a person reads it.
            public var description: String {
                switch self {
                case .keychain: "the keychain"
                case .enclave: "the keychain, for the enclave"
                case .file: "a protected file"
                }
            }
        }

        /// The kind of place.
        public let place: Place
        /// The protection class; nil for a class of the keychain that files have none like.
        public let protection: FileProtectionType?
        /// The keychain's name for the class, one of the `kSecAttrAccessible…` strings; nil for a file.
        public let accessible: String?
        /// Whose programs may open the database; nil for a file.
        public let accessGroup: String?
        /// What the keychain asks for besides; nil for a file.
        package let accessControl: AccessControl?
    }

    /// What the database is, and where its key is kept. Reads no key and asks nobody.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/fileNotFound``, ``ProtectedDatabaseError/Code/notDatabase``, and what
    ///   keeps the file from being read.
    public func info() throws -> Info {
        var information = stat()
        guard stat(path, &information) == 0 else { throw ProtectedDatabaseError("open", path, errno: errno) }
        let size = UInt64(clamping: information.st_size)
        do {
            let header = try header()
            return Info(
                isEncrypted: true, size: size, pageSize: header.geometry.pageSize,
                identifier: header.database.description, key: try keyInfo(header.database))
        } catch ProtectedDatabaseError.Code.notEncrypted {
            return Info(isEncrypted: false, size: size, pageSize: nil, identifier: nil, key: nil)
        }
    }

    private func keyInfo(_ database: DatabaseID) throws -> KeyInfo? {
        let found: DatabaseKeys.Found
        do { found = try keys.find(database) } catch ProtectedDatabaseError.Code.keyNotFound { return nil }
        switch found.place {
        case .file(_, let protection):
            return KeyInfo(place: .file, protection: protection, accessible: nil, accessGroup: nil, accessControl: nil)
        case .item(let item, let note):
            let protection: FileProtectionType? =
                switch item.protection {
                case .whenUnlocked: note.staysOpen ? .completeUnlessOpen : .complete
                case .afterFirstUnlock: .completeUntilFirstUserAuthentication
                case .always: FileProtectionType.none
                default: nil
                }
            return KeyInfo(
                place: note.enclaveKey != nil ? .enclave : .keychain, protection: protection,
                accessible: item.protection.rawValue, accessGroup: item.accessGroup,
                accessControl: note.control(item.protection))
        }
    }

    /// Opens every page in use, and has SQLite check that they fit together (`PRAGMA integrity_check`).
    ///
    /// - Returns: What was found, for a person to read; nothing for a database that is whole.
    /// - Throws: What keeps the database from being opened at all.
    public func problems() throws -> [String] {
        let connection = try ProtectedConnection(self, .readOnly)
        defer { connection.close() }
        do {
            let found = try connection.use { try $0.printed("PRAGMA integrity_check") }
            let failure = connection.takeFailure().map { [$0.description] } ?? []
            return failure + found.filter { $0 != "ok" }
        } catch {
            let failure =
                error as? ProtectedDatabaseError ?? ProtectedDatabaseError(error, connection.takeFailure(), at: path)
            // Nothing is damaged where something is missing for looking at it.
            guard failure.code != .unsupported, failure.code != .locked else { throw failure }
            return [failure.message]
        }
    }

    /// Copies a database to another place, where it gets a key of its own. Other programs may go on using it; the copy
    /// has what was committed when it was begun.
    ///
    /// - Parameters:
    ///   - target: The file to make.
    ///   - key: Where the copy's key is kept; unless given, as that of the original.
    ///   - progress: Called now and then by the calling thread; returns whether to go on.
    /// - Throws: ``ProtectedDatabaseError/Code/fileExists`` if there is anything with the name.
    public func copy(
        to target: ProtectedDatabaseFile, key: DatabaseKeyStorage? = nil,
        progress: (Progress) -> Bool = { _ in true }
    ) throws {
        let database = try header().database
        let keys = keys
        let found = try keys.find(database)
        let source = try DatabaseSource(self, key: try keys.read(found, of: database), isExclusive: false)
        let made = try NewDatabase(beside: target, key ?? found.storage)
        try made.fill { new in try source.copy(to: new, progress: progress) }
        try made.publish(replacing: nil)
    }
}
