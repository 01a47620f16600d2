import CFuse3
import Crypto
import FoundationEssentials
import Glibc
import KeychainModel
import ProtectedFiles
import VaultInterface

/// The file that makes a folder the one below a view: it has the key of the names.
///
/// Of class until-first-unlock: folders can be listed while the vault is locked.
package enum NameKeyRecord {
    package static let fileName = ".keychain-names"
    private static let magic = Array("KCNAMES\0".utf8)
    private static let version: [UInt8] = [0, 1]

    /// Nil if the folder has none.
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
        // Whoever writes to the folder must not be able to choose the key.
        guard try file.fileClass == .completeUntilFirstUserAuthentication else {
            throw .damaged(path: path, part: .header)
        }
        var bytes = try file.read(64, at: 0)
        defer { bytes.resetBytes(in: bytes.startIndex..<bytes.endIndex) }
        let start = magic.count + version.count
        guard bytes.starts(with: magic), bytes.count >= start else { throw .damaged(path: path, part: .chunk(0)) }
        let found = [UInt8](bytes[magic.count..<start])
        guard found == version else {
            throw .unsupportedVersion(path: path, version: UInt16(found[0]) << 8 | UInt16(found[1]))
        }
        guard bytes.count == start + NameKey.byteCount else { throw .damaged(path: path, part: .chunk(0)) }
        return bytes.withUnsafeBytes { NameKey(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    /// Makes a key for a folder that has none; it is on the disk when the call returns.
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
