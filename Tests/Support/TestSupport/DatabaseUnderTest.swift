import Bytes
import DatabaseVFS
import Foundation
import GRDB
import SQLCipherFiles

/// A folder with an encrypted database that this process has the key of.
package final class DatabaseUnderTest {
    package let folder: TemporaryFolder
    package let key: SecretBytes
    package let registration: DatabaseRegistration
    package let path: String

    /// A key that is told from others by a byte.
    package static func key(_ byte: UInt8 = 7) throws -> SecretBytes {
        try SecretBytes(count: 32) { $0.copyBytes(from: [UInt8](repeating: byte, count: 32)) }
    }

    /// - Parameter cipher: The version of SQLCipher for a file in its format; nil for one in this library's.
    package init(
        _ name: String = "test.db", in folder: TemporaryFolder? = nil, key: UInt8 = 7,
        cipher: CipherFormat.Version? = nil
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        self.key = try Self.key(key)
        path = self.folder.path(of: name)
        registration =
            if let cipher {
                try EncryptingVFS.register(path: path, form: CipherPlace(key: .raw(self.key), version: cipher))
            } else {
                try EncryptingVFS.register(path: path, key: self.key)
            }
    }

    /// A database with the tables of the workers, and with the journal that they use: two that change it at the same
    /// moment are in each other's way, whatever timeout SQLite has.
    package static func forWorkers(_ journal: String, cipher: CipherFormat.Version? = nil) throws -> DatabaseUnderTest {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try database.queue(journal: journal)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE kept(worker INTEGER, round INTEGER, text TEXT, PRIMARY KEY(worker, round));
                    CREATE TABLE passing(id INTEGER PRIMARY KEY, worker INTEGER, round INTEGER, bytes BLOB);
                    """)
        }
        try queue.close()
        return database
    }

    package var uri: String { EncryptingVFS.uri(path: path) }

    package func queue(_ prepare: (@Sendable (Database) throws -> Void)? = nil) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(120)
        if let prepare { configuration.prepareDatabase(prepare) }
        return try DatabaseQueue(path: uri, configuration: configuration)
    }

    package func queue(journal: String) throws -> DatabaseQueue {
        try queue { try $0.execute(sql: "PRAGMA journal_mode = \(journal)") }
    }

    package func pool() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.busyMode = .timeout(120)
        return try DatabasePool(path: uri, configuration: configuration)
    }

    /// Every file of the folder, and what is in it.
    package func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: folder.path(of: name)))
        }
        return files
    }

    /// Puts back what ``files()`` gave, and nothing else.
    package func restore(_ files: [String: Data]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(atPath: folder.path(of: name))
        }
        for (name, bytes) in files { try write(bytes, name) }
    }

    package func bytes(_ name: String = "test.db") throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: folder.path(of: name)))
    }

    package func write(_ bytes: Data, _ name: String = "test.db") throws {
        // In place: what was open stays open on the same file.
        try FolderContents.write(bytes, to: folder.path(of: name))
    }
}

extension DatabaseReader {
    /// What `PRAGMA integrity_check` says.
    package func integrity() throws -> String {
        try read { try String.fetchAll($0, sql: "PRAGMA integrity_check").joined(separator: "; ") }
    }
}
