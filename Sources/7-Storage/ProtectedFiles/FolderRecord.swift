import FoundationEssentials
import Glibc
import KeychainModel
import VaultInterface

/// What new files in a folder get, kept in the folder in a protected file of class `none`.
///
/// Being protected, the record is authenticated: nobody without the vault makes one that names a weaker class. Being of
/// class `none`, it can be read whenever files are made. Who can write to the folder can take the record away, or put that of
/// another folder in its place, as they could put plain files there.
package struct FolderRecord: Equatable, Sendable {
    /// The record's name in its folder.
    package static let fileName = ".keychain-folder"
    /// The length of a folder's identifier in bytes.
    package static let identifierSize = 16

    /// The class that new files and folders get; nil for none, which is for the record's other uses.
    package var defaultClass: FileProtectionClass?
    /// Whether the names in the folder are encrypted.
    package var encryptsNames: Bool
    /// The 16 bytes that tell this folder from all others.
    package let identifier: Data

    /// A record for a folder that has none.
    package init(_ defaultClass: FileProtectionClass?, encryptingNames: Bool = false) {
        self.defaultClass = defaultClass
        encryptsNames = encryptingNames
        identifier = Data([UInt8].random(count: Self.identifierSize))
    }

    /// The record for a new folder in the folder that has this one.
    package func inherited() -> FolderRecord {
        FolderRecord(defaultClass, encryptingNames: encryptsNames)
    }

    package static func path(in folder: String) -> String {
        folder.hasSuffix("/") ? folder + fileName : folder + "/" + fileName
    }

    /// The record of the folder that a file is in, or nil if it has none.
    package static func read(beside path: String, keys: any FileKeySource) throws(SealedFileError) -> FolderRecord? {
        try read(in: NewFile.Folder.split(path).folder, keys: keys)
    }

    /// The folder's record, or nil if it has none.
    ///
    /// - Throws: For a record that is there and does not open: it says what new files need, and is never passed over.
    package static func read(in folder: String, keys: any FileKeySource) throws(SealedFileError) -> FolderRecord? {
        let path = path(in: folder)
        var information = stat()
        guard lstat(path, &information) == 0 else {
            if errno == ENOENT { return nil }
            throw .last("examine", path)
        }
        // A link could lead to the record of a folder that has a weaker class.
        guard information.st_mode & S_IFMT != S_IFLNK else { throw .symbolicLink(path: path) }
        let file = try SealedFile(path, .reading, keys: keys)
        defer { file.close() }
        guard try file.fileClass == .none else { throw .damaged(path: path, part: .header) }
        return try FolderRecord(decoding: [UInt8](file.read(Layout.size + 1, at: 0)), path: path)
    }

    /// Makes this the folder's record; it is on the disk when the call returns.
    ///
    /// - Parameter replacing: Whether it may take the place of another.
    package func write(
        in folder: String, keys: any FileKeySource, replacing: Bool = true
    ) throws(SealedFileError) {
        let writer = try SealedFileWriter(Self.path(in: folder), .none, keys: keys, durability: .power)
        try writer.write(Data(encoded))
        try writer.finish(replacing: replacing)
    }
}

extension FolderRecord {
    private enum Layout {
        static let magic = Array("KCFOLDER".utf8)
        static let version: UInt16 = 1
        static let flagOfNames: UInt8 = 1
        static let size = 28
    }

    var encoded: [UInt8] {
        var bytes = Layout.magic
        bytes.append(Layout.version)
        bytes.append(defaultClass?.rawValue ?? 0)
        bytes.append(encryptsNames ? Layout.flagOfNames : 0)
        return bytes + identifier
    }

    init(decoding bytes: [UInt8], path: String) throws(SealedFileError) {
        guard bytes.starts(with: Layout.magic), bytes.count >= 10 else {
            throw .damaged(path: path, part: .chunk(0))
        }
        let version: UInt16 = bytes.number(at: 8)
        guard version == Layout.version else { throw .unsupportedVersion(path: path, version: version) }
        guard bytes.count == Layout.size, bytes[11] & ~Layout.flagOfNames == 0 else {
            throw .damaged(path: path, part: .chunk(0))
        }
        if bytes[10] != 0 {
            guard let fileClass = FileProtectionClass(rawValue: bytes[10]) else {
                throw .damaged(path: path, part: .chunk(0))
            }
            defaultClass = fileClass
        }
        encryptsNames = bytes[11] & Layout.flagOfNames != 0
        identifier = Data(bytes[12...])
    }
}
