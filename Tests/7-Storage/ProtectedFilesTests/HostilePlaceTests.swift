import CLibrary
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

/// Others who may write to the folders put something else in a file's or a folder's place in the middle of a
/// conversion.
@Suite struct HostilePlaceTests {
    private let folder: TemporaryFolder
    private let conversion = FileConversion(keys: MemoryFileKeys())
    private var path: String { folder.path(of: "folder/file") }
    private var victim: String { folder.path(of: "victim") }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["folder", "victim"] {
            let path = folder.path(of: name)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data(name.utf8).write(to: URL(filePath: path + "/file"))
        }
    }

    /// Has the folder's name lead to the victim's.
    private func swap() {
        rename(folder.path(of: "folder"), folder.path(of: "moved"))
        symlink("victim", folder.path(of: "folder"))
    }

    @Test func folderBecomesALinkWhileProtecting() throws {
        try conversion.protect(path, .complete) { _ in swap() }
        #expect(try FolderState(victim).names == ["file"])
        #expect(try Data(contentsOf: URL(filePath: victim + "/file")) == Data("victim".utf8))
        #expect(try SealedFileInfo(folder.path(of: "moved/file")).length == 6)
    }

    @Test func folderBecomesALinkWhileUnprotecting() throws {
        try conversion.protect(path, .complete)
        try conversion.protect(victim + "/file", .complete)
        let before = try FolderState(victim)
        try conversion.unprotect(path) { _ in swap() }
        #expect(try FolderState(victim) == before)
        #expect(try Data(contentsOf: URL(filePath: folder.path(of: "moved/file"))) == Data("folder".utf8))
    }

    @Test func anotherFileThanTheOneThatWasFound() throws {
        var information = stat()
        try #require(stat(path, &information) == 0)
        let found = FileIdentity(information)
        swap()
        let before = try FolderState(victim)
        #expect(throws: SealedFileError.changed(path: path)) {
            try conversion.protect(path, .complete, expecting: found)
        }
        try conversion.protect(folder.path(of: "moved/file"), .complete)
        #expect(throws: SealedFileError.changed(path: path)) { try conversion.unprotect(path, expecting: found) }
        #expect(try FolderState(victim) == before)
    }

    /// The new file goes to the folder that the name led to when it was begun.
    @Test func folderBecomesALinkWhileWriting() throws {
        let writer = try PlainFileWriter(folder.path(of: "folder/new"))
        swap()
        try writer.finish(replacing: true)
        #expect(try FolderState(victim).names == ["file"])
        #expect(access(folder.path(of: "moved/new"), F_OK) == 0)
    }

    /// Attributes of programs can be given only to files that can be written to.
    @Test func attributesOfReadOnlyFiles() throws {
        let attributes = [(name: "user.test", value: Array("value".utf8))]
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        try FileMetadata.write(attributes, descriptor, path: path)
        fchmod(descriptor, 0o444)
        close(descriptor)
        try conversion.protect(path, .complete)
        let after = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(after) }
        #expect(try FileMetadata.attributes(of: after, path: path).contains { $0.name == "user.test" })
        var information = stat()
        #expect(fstat(after, &information) == 0 && information.st_mode & 0o7777 == 0o444)
    }
}
