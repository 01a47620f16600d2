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
        /// Bytes of a page; nil for a plain database and a SQLCipher file.
        public let pageSize: Int?
        /// 20 hexadecimal digits that tell the database from all others; the 32 digits of a SQLCipher file's salt; nil
        /// for a plain database.
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
        /// The access group whose programs may open the database; nil for a file.
        public let accessGroup: String?
        /// What the keychain asks for besides; nil for a file.
        package let accessControl: AccessControl?

        init(
            place: Place, protection: FileProtectionType?, accessible: String?, accessGroup: String?,
            accessControl: AccessControl?
        ) {
            (self.place, self.protection, self.accessible) = (place, protection, accessible)
            (self.accessGroup, self.accessControl) = (accessGroup, accessControl)
        }

        init(ofSQLCipher item: KeyItems.Item) {
            self.init(
                place: SQLCipherKeys.isInEnclave(item) ? .enclave : .keychain,
                protection: FileProtectionType(
                    item.protection,
                    staysOpen: item.closesWithLock && !SQLCipherKeys.closesWithLock(item)),
                accessible: item.protection.rawValue, accessGroup: item.accessGroup,
                accessControl: AccessControl(protection: item.protection, flags: item.flags))
        }
    }

    /// What the database is, and where its key is kept. Reads no key and asks nobody.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/fileNotFound``, ``ProtectedDatabaseError/Code/notDatabase``, and what
    ///   keeps the file from being read.
    public func info() throws -> Info {
        var information = stat()
        guard stat(path, &information) == 0 else { throw ProtectedDatabaseError("open", path, errno: errno) }
        let size = UInt64(clamping: information.st_size)
        if case .sqlcipher = format {
            return Info(
                isEncrypted: true, size: size, pageSize: nil, identifier: cipherKeys.account,
                key: try cipherKeys.find().map(KeyInfo.init(ofSQLCipher:)))
        }
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
            return KeyInfo(
                place: note.enclaveKey != nil ? .enclave : .keychain,
                protection: FileProtectionType(item.protection, staysOpen: note.staysOpen),
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
}

extension FileProtectionType {
    /// The class of files that opens and closes as items of a class do; nil if there is none.
    fileprivate init?(_ protection: ProtectionClass, staysOpen: Bool) {
        switch protection {
        case .whenUnlocked: self = staysOpen ? .completeUnlessOpen : .complete
        case .afterFirstUnlock: self = .completeUntilFirstUserAuthentication
        case .always: self = FileProtectionType.none
        default: return nil
        }
    }
}
