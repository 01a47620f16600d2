import Bytes
import CFuse3
import CLibrary
import Crypto
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import VaultInterface

/// The file with the key of the names. It marks a folder as one below a view.
///
/// Its class is until-first-unlock, so that folders can be listed while the vault is locked.
package enum NameKeyRecord {
    package static let fileName = ".keychain-names"
    private static let magic = Array("KCNAMES\0".utf8)
    private static let version: [UInt8] = [0, 1]

    /// Returns the folder's key; nil if the folder has none.
    static func read(in folder: String, keys: any FileKeySource) throws(SealedFileError) -> NameKey? {
        let path = "\(folder)/\(fileName)"
        var information = stat()
        guard lstat(path, &information) == 0 else {
            if errno == ENOENT { return nil }
            throw .system(operation: "examine", path: path, errno: errno)
        }
        guard information.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
        let file = try SealedFile(path, .reading, keys: keys)
        defer { file.close() }
        // Otherwise a program that may write to the folder could choose the key.
        guard try file.fileClass == .completeUntilFirstUserAuthentication else {
            throw .damaged(path: path, part: .header)
        }
        var bytes = try file.read(64, at: 0)
        defer { bytes.resetBytes(in: bytes.startIndex..<bytes.endIndex) }
        let start = magic.count + version.count
        guard bytes.starts(with: magic), bytes.count >= start else { throw .damaged(path: path, part: .chunk(0)) }
        let found = [UInt8](bytes[magic.count..<start])
        guard found == version else {
            throw .unsupportedVersion(path: path, version: UInt16(bigEndianBytes: found))
        }
        guard bytes.count == start + NameKey.byteCount else { throw .damaged(path: path, part: .chunk(0)) }
        return bytes.withUnsafeBytes { NameKey(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    /// Creates a key for a folder without one. The key is on the disk when the call returns.
    static func create(in folder: String, keys: any FileKeySource) throws(SealedFileError) {
        let key = SymmetricKey(size: .init(bitCount: 8 * NameKey.byteCount))
        var bytes = key.withUnsafeBytes { Data(magic + version + $0) }
        defer { bytes.resetBytes(in: bytes.startIndex..<bytes.endIndex) }
        let writer = try SealedFileWriter(
            "\(folder)/\(fileName)", .completeUntilFirstUserAuthentication, keys: keys, durability: .power)
        try writer.write(bytes)
        try writer.finish(replacing: false)
    }
}
