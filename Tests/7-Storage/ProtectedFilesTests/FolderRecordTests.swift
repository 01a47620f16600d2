import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import ProtectedFiles

/// What a folder says of new files in it.
@Suite struct FolderRecordTests {
    private let folder: TemporaryFolder
    private let keys = MemoryFileKeys()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { FolderRecord.path(in: folder.path) }

    private func read() throws(SealedFileError) -> FolderRecord? {
        try FolderRecord.read(in: folder.path, keys: keys)
    }

    private func put(_ bytes: [UInt8], _ fileClass: FileProtectionClass = .none) throws {
        let writer = try SealedFileWriter(path, fileClass, keys: keys, durability: .process)
        try writer.write(Data(bytes))
        try writer.finish(replacing: true)
    }

    @Test(arguments: FileProtectionClass.allCases + [nil], [false, true])
    func comesBack(_ fileClass: FileProtectionClass?, encryptingNames: Bool) throws {
        #expect(try read() == nil)
        let record = FolderRecord(fileClass, encryptingNames: encryptingNames)
        try record.write(in: folder.path, keys: keys)
        #expect(try read() == record)
        #expect(try FolderRecord.read(in: folder.path + "/", keys: keys) == record)
        let inherited = record.inherited()
        #expect(inherited.defaultClass == fileClass)
        #expect(inherited.encryptsNames == encryptingNames)
        #expect(inherited.identifier != record.identifier)
        #expect(throws: SealedFileError.alreadyExists(path: path)) {
            try inherited.write(in: folder.path, keys: keys, replacing: false)
        }
        try inherited.write(in: folder.path, keys: keys)
        #expect(try read() == inherited)
    }

    /// The bytes that Formats/ProtectedFiles.md gives.
    @Test func hasItsLayout() throws {
        let record = FolderRecord(.completeUnlessOpen, encryptingNames: true)
        #expect(record.encoded == Array("KCFOLDER".utf8) + [0, 1, 2, 1] + record.identifier)
        #expect(record.identifier.count == 16)
    }

    @Test func whatDoesNotOpenIsNoAbsence() throws {
        let sound = FolderRecord(.complete).encoded
        func expect(_ error: SealedFileError) {
            #expect(throws: error) { try read() }
        }
        let damaged = SealedFileError.damaged(path: path, part: .chunk(0))
        for length in 0..<sound.count {
            try put(Array(sound.prefix(length)))
            expect(damaged)
        }
        try put(sound + [0])
        expect(damaged)
        for (place, byte) in [(0, UInt8(0)), (10, 5), (11, 2)] {
            var bytes = sound
            bytes[place] = byte
            try put(bytes)
            expect(damaged)
        }
        var newer = sound
        newer[9] = 2
        try put(newer)
        expect(.unsupportedVersion(path: path, version: 2))
        // Of a class that may be closed.
        try put(sound, .complete)
        expect(.damaged(path: path, part: .header))
        // Made without the vault.
        try FolderContents.write(Data(sound), to: path)
        expect(.notProtected(path: path))
        try put(sound)
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count - 1] ^= 1
        try FolderContents.write(bytes, to: path)
        expect(damaged)
    }

    @Test func aLinkIsNoRecord() throws {
        let other = folder.path(of: "other")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: FolderRecord.path(in: other))
        #expect(throws: SealedFileError.symbolicLink(path: path)) { try read() }
        try FolderRecord(FileProtectionClass.none).write(in: other, keys: keys)
        #expect(throws: SealedFileError.symbolicLink(path: path)) { try read() }
    }

    @Test func noFolderHasNoRecord() throws {
        #expect(try FolderRecord.read(in: folder.path(of: "absent"), keys: keys) == nil)
        let file = folder.path(of: "file")
        try Data().write(to: URL(filePath: file))
        #expect(throws: SealedFileError.self) { try FolderRecord.read(in: file, keys: keys) }
    }
}
