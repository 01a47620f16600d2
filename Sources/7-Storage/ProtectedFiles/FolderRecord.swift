import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import VaultInterface

/// The settings for new files in a folder. The folder holds them in a protected file of class `none`.
///
/// The file is protected, so the record is authenticated: only with the vault can a program make one that names a
/// weaker class. Its class is `none`, so that it can be read whenever a file is made. A program that may write to the
/// folder can remove the record or replace it with that of another folder, as it could put plain files there.
package struct FolderRecord: Equatable, Sendable {
    /// The record's name in its folder.
    package static let fileName = ".keychain-folder"
    /// The length of a folder's identifier in bytes.
    package static let identifierSize = 16

    /// The class of new files and folders; nil for none, if the record has only other settings.
    package var defaultClass: FileProtectionClass?
    /// Whether the names in the folder are encrypted.
    package var encryptsNames: Bool
    /// The folder's unique identifier of 16 bytes.
    package let identifier: Data

    /// Makes a record for a folder without one.
    package init(_ defaultClass: FileProtectionClass?, encryptingNames: Bool = false) {
        self.defaultClass = defaultClass
        encryptsNames = encryptingNames
        identifier = Data([UInt8].random(count: Self.identifierSize))
    }

    /// Returns the record for a new folder inside this one.
    package func inherited() -> FolderRecord {
        FolderRecord(defaultClass, encryptingNames: encryptsNames)
    }

    package static func path(in folder: String) -> String {
        folder.hasSuffix("/") ? folder + fileName : folder + "/" + fileName
    }

    /// Returns the record of the folder with this file; nil if it has none.
    package static func read(beside path: String, keys: any FileKeySource) throws(SealedFileError) -> FolderRecord? {
        try read(in: NewFile.Folder.split(path).folder, keys: keys)
    }

    /// Returns the folder's record; nil if it has none.
    ///
    /// - Throws: An error if there is a record that does not open. It is never ignored, because new files need its
    ///   settings.
    package static func read(in folder: String, keys: any FileKeySource) throws(SealedFileError) -> FolderRecord? {
        let path = path(in: folder)
        var information = stat()
        guard lstat(path, &information) == 0 else {
            if errno == ENOENT { return nil }
            throw .last("examine", path)
        }
        // A link could lead to the record of a folder with a weaker class.
        guard information.st_mode & S_IFMT != S_IFLNK else { throw .symbolicLink(path: path) }
        let file = try SealedFile(path, .reading, keys: keys)
        defer { file.close() }
        guard try file.fileClass == .none else { throw .damaged(path: path, part: .header) }
        return try FolderRecord(decoding: [UInt8](file.read(Layout.size + 1, at: 0)), path: path)
    }

    /// Stores this as the folder's record. The record is on the disk when the call returns.
    ///
    /// - Parameter replacing: Whether to replace an existing record.
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
        bytes.append(bigEndian: Layout.version)
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
