import Bytes
import DatabasePages
import FoundationEssentials

/// A database's key as it is kept, in an item or in a protected file: `KCDBkey1`, the database's id, the key.
struct KeyValue {
    /// Bytes of a key.
    static let keyCount = 32
    private static let magic = Data("KCDBkey1".utf8)

    let key: SecretBytes

    init(_ data: Data, of database: DatabaseID, path: String) throws {
        let start = data.startIndex
        let keyStart = start + Self.magic.count + DatabaseID.byteCount
        guard data.starts(with: Self.magic), data.count == keyStart - start + Self.keyCount else {
            throw ProtectedDatabaseError(
                .unsupported, path: path, message: "what is kept as the key of \(path) is none; put the right one back")
        }
        guard DatabaseID(data[(start + Self.magic.count)..<keyStart]) == database else {
            throw ProtectedDatabaseError(
                .wrongKey, path: path,
                message: "what is kept as the key of \(path) is another database's; put the right one back")
        }
        do {
            key = try data[keyStart...].withUnsafeBytes { try SecretBytes(copying: $0) }
        } catch {
            throw ProtectedDatabaseError(.outOfMemory, path: path, message: "there is no memory for the key of \(path)")
        }
    }

    static func bytes(_ key: SecretBytes, of database: DatabaseID) -> Data {
        var bytes = magic + Data(database.bytes)
        key.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return .wipedWhenFreed(bytes)
    }
}
