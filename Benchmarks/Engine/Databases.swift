import Bytes
import CSQLite
import DatabaseVFS
import Foundation
import Glibc
import ProtectedDatabase
import SQLCipherFiles

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
///   - isCipher: Whether the file is one of SQLCipher's format, version 4.
func measureDatabase(in folder: String, rounds: String, rows: Int, cache: Int, isCipher: Bool = false) throws {
    guard let library = dlopen(rounds, RTLD_NOW), let function = dlsym(library, "database_rounds") else {
        report(String(cString: dlerror()))
        exit(1)
    }
    let path = "\(folder)/keychain-\(getpid()).db"
    let key = try SecretBytes(count: 32) { for place in $0.indices { $0[place] = 7 } }
    let registration =
        isCipher
        ? try EncryptingVFS.register(path: path, form: CipherPlace(key: .raw(key), version: .four))
        : try EncryptingVFS.register(path: path, key: key)
    // Without a name, the functions are those that this program uses itself.
    _ = unsafeBitCast(function, to: Rounds.self)(
        isCipher ? "cipher" : "keychain", "", registration.uri, rows, cache, nil)
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

/// The key of a SQLCipher file of version 4 and of version 3 from a passphrase.
func measureKeyDerivation(rounds: Int) throws {
    let passphrase = try SecretBytes("a passphrase of some length")
    let salt = [UInt8](repeating: 1, count: CipherFormat.saltSize)
    for version in [CipherFormat.Version.four, .three] {
        guard let format = CipherFormat(version) else { continue }
        var samples = Samples(.processor)
        for _ in 0..<rounds {
            try samples.measure(operations: 1) {
                _ = try CipherPages(key: .passphrase(passphrase), salt: salt, format: format)
            }
        }
        emit("database.derivation.keychain.\(version.rawValue)", samples)
    }
}
