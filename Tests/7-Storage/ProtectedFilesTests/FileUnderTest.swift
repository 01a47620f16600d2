import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

/// A protected file of its own.
struct FileUnderTest {
    let folder: TemporaryFolder
    let keys = MemoryFileKeys()
    var path: String { folder.path(of: "file") }

    init() throws { folder = try TemporaryFolder() }

    /// Makes the file, from data or empty.
    init(_ data: Data, _ fileClass: FileProtectionClass = .complete) throws {
        try self.init()
        let writer = try SealedFileWriter(path, fileClass, keys: keys, durability: .process)
        try writer.write(data)
        try writer.finish(replacing: true)
    }

    func open(_ mode: SealedFile.Mode = .reading) throws -> SealedFile {
        try SealedFile(path, mode, keys: keys)
    }

    /// All data, read by somebody who opens the file now.
    func contents() throws -> Data {
        let file = try open()
        return try file.read(Int(clamping: file.length), at: 0)
    }

    var bytes: Data {
        get throws { try Data(contentsOf: URL(filePath: path)) }
    }

    func put(_ bytes: Data) throws { try FolderContents.write(bytes, to: path) }

    /// Writes a change into the journal and stops there, as a process that is killed may.
    func interrupt(_ new: Data, at place: Int) throws -> JournalRecord {
        let core = try FileCore(path, writing: true, waitingForDisk: false, keys: keys)
        let secrets = try core.usableSecrets()
        let record = try new.withBytes { bytes in
            try core.prepare(to: core.header.length, secrets, journaled: true) { (change) throws(SealedFileError) in
                try core.seal(bytes, at: UInt64(clamping: place), in: &change, secrets)
            }.record
        }
        return try #require(record)
    }
}
