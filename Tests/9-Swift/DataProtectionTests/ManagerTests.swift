import DataProtection
import Foundation
import Glibc
import KeychainTesting
import TestSupport
import Testing

/// Code written for `FileManager`.
@Suite struct ManagerTests {
    private let folder: TemporaryFolder
    private let world: TestKeychain
    /// What code has that knows nothing of this module.
    private let manager: FileManager = ProtectedFileManager.default

    init() throws {
        folder = try TemporaryFolder()
        world = try TestKeychain()
    }

    private var path: String { folder.path(of: "file") }
    private let complete: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]

    private func protection(_ path: String) throws -> FileProtectionType? {
        try manager.attributesOfItem(atPath: path)[.protectionKey] as? FileProtectionType
    }

    private func expect(_ code: CocoaError.Code, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("no error instead of \(code)")
        } catch {
            #expect((error as? CocoaError)?.code == code, "\(error)")
        }
    }

    private func isOnDisk(_ text: String, _ path: String) throws -> Bool {
        try Data(contentsOf: URL(filePath: path)).range(of: Data(text.utf8)) != nil
    }

    @Test func attributes() throws {
        try world.run {
            try Data("some plain text".utf8).write(to: URL(filePath: path))
            #expect(try protection(path) == nil)
            try manager.setAttributes(complete.merging([.posixPermissions: 0o640]) { $1 }, ofItemAtPath: path)
            let attributes = try manager.attributesOfItem(atPath: path)
            #expect(attributes[.protectionKey] as? FileProtectionType == .complete)
            #expect(attributes[.size] as? Int == 15)
            #expect(attributes[.size] as? UInt64 == 15)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            #expect(try !isOnDisk("some plain text", path))
            #expect(manager.contents(atPath: path) == Data("some plain text".utf8))
            // As text, too, which is what Apple's headers declare.
            try manager.setAttributes(
                [.protectionKey: FileProtectionType.completeUnlessOpen.rawValue], ofItemAtPath: path)
            #expect(try protection(path) == .completeUnlessOpen)
            try manager.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: path)
            #expect(try protection(path) == .completeUnlessOpen)
            expect(.featureUnsupported) { try manager.setAttributes([.protectionKey: 7], ofItemAtPath: path) }
            expect(.featureUnsupported) {
                try manager.setAttributes([.protectionKey: FileProtectionType(rawValue: "?")], ofItemAtPath: path)
            }
            expect(.fileNoSuchFile) { try manager.setAttributes(complete, ofItemAtPath: folder.path(of: "no")) }
            expect(.fileReadNoSuchFile) { _ = try manager.attributesOfItem(atPath: folder.path(of: "no")) }
        }
    }

    @Test func whileLocked() throws {
        try world.run {
            #expect(manager.createFile(atPath: path, contents: Data("x".utf8), attributes: complete))
            world.lock()
            #expect(manager.contents(atPath: path) == nil)
            #expect(try protection(path) == .complete)
            #expect(try manager.attributesOfItem(atPath: path)[.size] as? Int == 1)
            expect(.fileWriteNoPermission) {
                try manager.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: path)
            }
            expect(.fileReadNoPermission) { try manager.copyItem(atPath: path, toPath: folder.path(of: "copy")) }
            #expect(!manager.createFile(atPath: folder.path(of: "new"), contents: nil, attributes: complete))
            #expect(!manager.createFile(atPath: path, contents: Data("y".utf8)))
            try manager.moveItem(atPath: path, toPath: folder.path(of: "moved"))
            #expect(try manager.contentsOfDirectory(atPath: folder.path) == ["moved"])
            world.unlock()
            #expect(manager.contents(atPath: folder.path(of: "moved")) == Data("x".utf8))
        }
    }

    @Test func creating() throws {
        try world.run { () throws in
            let attributes = complete.merging([.posixPermissions: 0o644]) { $1 }
            #expect(manager.createFile(atPath: path, contents: Data("secret text".utf8), attributes: attributes))
            #expect(try protection(path) == .complete)
            #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o644)
            #expect(try !isOnDisk("secret text", path))
            // In place of a protected file, and of a plain one.
            #expect(manager.createFile(atPath: path, contents: Data("other text".utf8)))
            #expect(try protection(path) == .complete)
            #expect(try !isOnDisk("other text", path))
            let plain = folder.path(of: "plain")
            #expect(manager.createFile(atPath: plain, contents: Data("plain text".utf8)))
            #expect(try protection(plain) == nil)
            #expect(try isOnDisk("plain text", plain))
            #expect(manager.createFile(atPath: plain, contents: nil, attributes: complete))
            #expect(manager.contents(atPath: plain) == Data())
            #expect(try protection(plain) == .complete)
            #expect(!manager.createFile(atPath: folder.path(of: "no/file"), contents: nil, attributes: complete))
            #expect(!manager.createFile(atPath: path, contents: nil, attributes: [.protectionKey: 7]))
        }
    }

    @Test func folders() throws {
        try world.run {
            let deep = folder.path(of: "a/b/c")
            try manager.createDirectory(
                atPath: deep, withIntermediateDirectories: true,
                attributes: complete.merging([.posixPermissions: 0o750]) { $1 })
            for name in ["a", "a/b", "a/b/c"] { #expect(try protection(folder.path(of: name)) == .complete) }
            #expect(try protection(folder.path) == nil)
            #expect(try manager.attributesOfItem(atPath: deep)[.posixPermissions] as? Int == 0o750)
            #expect(manager.createFile(atPath: deep + "/file", contents: Data("x".utf8)))
            #expect(try protection(deep + "/file") == .complete)
            #expect(try manager.contentsOfDirectory(atPath: deep) == ["file"])
            #expect(
                try manager.subpathsOfDirectory(atPath: folder.path).sorted() == ["a", "a/b", "a/b/c", "a/b/c/file"])
            // What is there stays as it is.
            try manager.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: deep)
            #expect(try protection(deep) == FileProtectionType.none)
            #expect(try protection(deep + "/file") == .complete)
            // There already: nothing is done, as ever.
            try manager.createDirectory(atPath: deep, withIntermediateDirectories: true, attributes: complete)
            #expect(try protection(deep) == FileProtectionType.none)
            expect(.fileWriteFileExists) {
                try manager.createDirectory(atPath: deep, withIntermediateDirectories: false, attributes: complete)
            }
            let url = URL(filePath: deep + "/d", directoryHint: .isDirectory)
            try manager.createDirectory(at: url, withIntermediateDirectories: false)
            #expect(try protection(deep + "/d") == FileProtectionType.none)
            let plain = folder.path(of: "plain")
            try manager.createDirectory(atPath: plain, withIntermediateDirectories: false)
            #expect(try FileManager().contentsOfDirectory(atPath: plain) == [])
            try manager.removeItem(atPath: folder.path(of: "a"))
            expect(.fileNoSuchFile) {
                try manager.createDirectory(
                    atPath: folder.path(of: "no/folder"), withIntermediateDirectories: false, attributes: complete)
            }
        }
    }

    @Test func copyingFiles() throws {
        try world.run {
            let (copy, moved) = (folder.path(of: "copy"), folder.path(of: "moved"))
            #expect(manager.createFile(atPath: path, contents: Data("text".utf8), attributes: complete))
            try manager.setAttributes(
                [.posixPermissions: 0o640, .modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: path)
            try manager.copyItem(atPath: path, toPath: copy)
            #expect(try protection(copy) == .complete)
            #expect(manager.contents(atPath: copy) == Data("text".utf8))
            let attributes = try manager.attributesOfItem(atPath: copy)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1000))
            // A key of its own, and so no byte of the data in common.
            #expect(try ProtectedFile(path: copy).info() != ProtectedFile(path: path).info())
            #expect(manager.contentsEqual(atPath: path, andPath: copy))
            expect(.fileWriteFileExists) { try manager.copyItem(atPath: path, toPath: copy) }
            try manager.moveItem(at: URL(filePath: copy), to: URL(filePath: moved))
            #expect(try protection(moved) == .complete)
            #expect(!manager.fileExists(atPath: copy))
            // Replaced, it has the contents and class of the other.
            let plain = folder.path(of: "plain")
            #expect(manager.createFile(atPath: plain, contents: Data("plain".utf8)))
            #expect(!manager.contentsEqual(atPath: path, andPath: plain))
            try ProtectedFile(path: plain).replace(with: ProtectedFile(path: moved))
            #expect(manager.contents(atPath: plain) == Data("text".utf8))
            #expect(try protection(plain) == .complete)
            expect(.fileReadNoSuchFile) { try manager.copyItem(atPath: copy, toPath: moved) }
            try manager.linkItem(atPath: plain, toPath: moved)
            #expect(manager.contents(atPath: moved) == Data("text".utf8))
        }
    }

    @Test func copyingFolders() throws {
        try world.run {
            let (from, to) = (folder.path(of: "from"), folder.path(of: "to"))
            try manager.createDirectory(atPath: from, withIntermediateDirectories: false, attributes: complete)
            try manager.createDirectory(
                atPath: from + "/below", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            #expect(manager.createFile(atPath: from + "/below/file", contents: Data("text".utf8)))
            try Data("plain".utf8).write(to: URL(filePath: from + "/plain"))
            try manager.createSymbolicLink(atPath: from + "/link", withDestinationPath: "nowhere")
            try manager.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1000), .posixPermissions: 0o500], ofItemAtPath: from)
            defer { chmod(from, 0o700) }
            try manager.copyItem(at: URL(filePath: from), to: URL(filePath: to))
            defer { chmod(to, 0o700) }
            #expect(try protection(to) == .complete)
            #expect(try protection(to + "/below") == .complete)
            #expect(try protection(to + "/below/file") == .complete)
            #expect(manager.contents(atPath: to + "/below/file") == Data("text".utf8))
            #expect(try manager.attributesOfItem(atPath: to + "/below")[.posixPermissions] as? Int == 0o755)
            #expect(try manager.destinationOfSymbolicLink(atPath: to + "/link") == "nowhere")
            let attributes = try manager.attributesOfItem(atPath: to)
            #expect(attributes[.posixPermissions] as? Int == 0o500)
            #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1000))
            // In a folder with a default class, a plain file's copy is protected.
            #expect(try protection(to + "/plain") == .complete)
            #expect(manager.contents(atPath: to + "/plain") == Data("plain".utf8))
            #expect(try protection(from + "/plain") == nil)
        }
    }

    /// Asked about everything that is copied, and told of errors.
    @Test func itsDelegateIsAsked() throws {
        let manager = ProtectedFileManager()
        let delegate = AskedDelegate()
        manager.delegate = delegate
        try world.run {
            let (from, to) = (folder.path(of: "from"), folder.path(of: "to"))
            try manager.createDirectory(atPath: from, withIntermediateDirectories: false)
            for name in ["no", "one", "two"] {
                #expect(
                    manager.createFile(atPath: from + "/" + name, contents: Data("text".utf8), attributes: complete))
            }
            #expect(manager.createFile(atPath: from + "/plain", contents: Data("text".utf8)))
            try manager.copyItem(atPath: from, toPath: to)
            #expect(delegate.asked.all.sorted() == ["from", "no", "one", "plain", "two"])
            #expect(try manager.contentsOfDirectory(atPath: to).sorted() == ["one", "plain", "two"])
            try manager.removeItem(atPath: to)
            world.lock()
            try manager.copyItem(atPath: from, toPath: to)
            #expect(delegate.failed.all.sorted() == ["one", "two"])
            #expect(try manager.contentsOfDirectory(atPath: to) == ["plain"])
        }
    }

    /// Nothing of it needs a vault.
    @Test func plainFilesAreAsEver() throws {
        let plain = folder.path(of: "plain")
        #expect(manager.createFile(atPath: plain, contents: Data("text".utf8)))
        try manager.copyItem(atPath: plain, toPath: path)
        #expect(manager.contentsEqual(atPath: plain, andPath: path))
        try manager.createDirectory(atPath: folder.path(of: "a/b"), withIntermediateDirectories: true)
        try manager.copyItem(atPath: folder.path(of: "a"), toPath: folder.path(of: "c"))
        #expect(manager.fileExists(atPath: folder.path(of: "c/b")))
        let (mine, others) = (
            try manager.attributesOfItem(atPath: plain), try FileManager().attributesOfItem(atPath: plain)
        )
        #expect(Set(mine.keys) == Set(others.keys))
        #expect(mine[.size] as? Int == others[.size] as? Int)
        expect(.fileWriteFileExists) { try manager.copyItem(atPath: plain, toPath: path) }
    }

    @Test func damage() throws {
        try world.run {
            #expect(manager.createFile(atPath: path, contents: Data("text".utf8), attributes: complete))
            var bytes = try Data(contentsOf: URL(filePath: path))
            bytes[20] ^= 1
            try bytes.write(to: URL(filePath: path))
            #expect(manager.contents(atPath: path) == nil)
            expect(.fileReadCorruptFile) { try manager.copyItem(atPath: path, toPath: folder.path(of: "copy")) }
            // Not taken for a plain file, and so not given out as it is.
            try bytes.prefix(100).write(to: URL(filePath: path))
            #expect(manager.contents(atPath: path) == nil)
            expect(.fileReadCorruptFile) { try manager.copyItem(atPath: path, toPath: folder.path(of: "copy")) }
        }
    }
}
