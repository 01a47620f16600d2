import DataProtection
import DatabasePages
import Foundation
import KeychainModel

/// What is in a protected file that keeps a database's key: `KCDBkey1`, the database's id, the key.
struct KeyFile {
    private static let magic = Data("KCDBkey1".utf8)

    let key: SecretBytes

    init(_ data: Data, of database: DatabaseID, path: String) throws(ProtectedFileError) {
        let start = data.startIndex
        let keyStart = start + Self.magic.count + DatabaseID.byteCount
        guard data.starts(with: Self.magic), data.count == keyStart - start + DatabaseKeys.keyCount else {
            throw ProtectedFileError(
                .unsupported, path: path, message: "\(path) holds no key of a database; put the right file back")
        }
        guard DatabaseID(data[(start + Self.magic.count)..<keyStart]) == database else {
            throw ProtectedFileError(
                .damaged, path: path, message: "\(path) holds the key of another database; put the right file back")
        }
        do {
            key = try data[keyStart...].withUnsafeBytes { try SecretBytes(copying: $0) }
        } catch {
            throw ProtectedFileError(.outOfMemory, path: path, message: "there is no memory for the key in \(path)")
        }
    }

    static func bytes(_ key: SecretBytes, of database: DatabaseID) -> Data {
        var bytes = magic + Data(database.bytes)
        key.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return .wipedWhenFreed(bytes)
    }
}
