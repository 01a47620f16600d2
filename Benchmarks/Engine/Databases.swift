import Bytes
import CSQLite
import DatabaseVFS
import Foundation
import Glibc
import ProtectedDatabase

private typealias Rounds =
    @convention(c) (
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, Int, Int, UnsafePointer<CChar>?
    ) -> Int32

/// Inserts and selects through the encrypting VFS, in the rounds that `compare/database-rounds.c` makes of plain SQLite
/// and of SQLCipher.
///
/// - Parameters:
///   - rounds: The shared object of that source.
///   - cache: KiB of SQLite's cache; 0 for SQLite's default.
func measureDatabase(in folder: String, rounds: String, rows: Int, cache: Int) throws {
    guard let library = dlopen(rounds, RTLD_NOW), let function = dlsym(library, "database_rounds") else {
        report(String(cString: dlerror()))
        exit(1)
    }
    let path = "\(folder)/keychain-\(getpid()).db"
    let key = try SecretBytes(count: 32) { for place in $0.indices { $0[place] = 7 } }
    let registration = try EncryptingVFS.register(path: path, key: key)
    // The same as this program's own: SQLite is there once.
    _ = unsafeBitCast(function, to: Rounds.self)("keychain", "libsqlite3.so.0", registration.uri, rows, cache, nil)
}

/// A plain database made an encrypted one in its place, by the clock.
func measureConversion(in folder: String, of path: String) throws {
    let scratch = "\(folder)/conversion-\(getpid())"
    try FileManager.default.createDirectory(
        atPath: scratch, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    setenv("KEYCHAIN_HOME", scratch + "/vault", 1)
    setenv("KEYCHAIN_ACCESS_GROUPS", "TEAM.benchmark", 1)
    let copy = scratch + "/copy.db"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let file = ProtectedDatabaseFile(path: copy)
    var encrypt = Samples(.elapsed)
    try encrypt.measure(operations: 1) { try file.encrypt() }
    emit("database.encrypt.keychain", encrypt)
}
