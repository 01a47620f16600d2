import Bytes
import Foundation
import SQLCipherWire
import SystemSQLite
import TestSupport

@testable import SQLCipherService

/// A place for a database, with a key of its own.
struct CipherFile {
    let folder: TemporaryFolder
    let path: String
    let bytes: [UInt8]

    init(_ name: String = "db") throws {
        folder = try TemporaryFolder()
        path = folder.path(of: name)
        bytes = [UInt8].random(count: 32)
    }

    var key: CipherKey { get throws { try Self.key(bytes) } }

    /// The key as the shell takes it.
    var hexadecimal: String { bytes.map { String(format: "%02x", $0) }.joined() }

    var data: Data { get throws { try Data(contentsOf: URL(filePath: path)) } }

    static func key(_ bytes: [UInt8]) throws -> CipherKey {
        CipherKey(.raw, try bytes.withUnsafeBytes { try SecretBytes(copying: $0) })
    }

    static func passphrase(_ text: String) throws -> CipherKey { CipherKey(.passphrase, try SecretBytes(text)) }

    static let program = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("keychain-sqlcipher").path

    func create(_ options: SQLCipherOptions = .init()) throws -> SQLCipherDatabase {
        try .create(path, key: key, options: options)
    }

    func open(readOnly: Bool = false, _ options: SQLCipherOptions = .init()) throws -> SQLCipherDatabase {
        try SQLCipherDatabase(path, key: key, readOnly: readOnly, options: options)
    }
}

/// A database of the machine's SQLite, as the other end of a transfer.
struct PlainDatabase {
    let path: String
    let connection: SQLConnection

    init(_ path: String) throws {
        self.path = path
        connection = try SQLConnection(path, .create)
        try connection.execute("PRAGMA foreign_keys = ON")
    }
}

/// What a test expects to be thrown.
func code(_ body: () throws -> Void) -> RequestFailure.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? SQLCipherError)?.code
    }
}
