import Bytes
import DataProtection
import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import ProcessVault
import ProtectedFiles
import TestSupport
import Testing
import VaultInterface

/// Addresses of files and folders.
@Suite struct FileTests {
    private let folder: TemporaryFolder
    private let world: TestKeychain

    init() throws {
        folder = try TemporaryFolder()
        world = try TestKeychain()
    }

    private var file: ProtectedFile { ProtectedFile(path: folder.path(of: "file")) }

    private func expect(_ code: ProtectedFileError.Code, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("no error instead of \(code)")
        } catch {
            #expect(code ~= error, "\(error)")
        }
    }

    private func mode(of path: String) -> mode_t {
        var information = stat()
        return stat(path, &information) == 0 ? information.st_mode & 0o7777 : 0
    }

    @Test func wholeContents() throws {
        try world.run {
            let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try data.write(to: file, options: [.completeFileProtection, .atomic])
            #expect(try Data(contentsOf: file) == data)
            #expect(mode(of: file.path) == 0o600)
            let info = try #require(try file.info())
            #expect(info.protection == .complete)
            #expect(info.size == 200_000)
            #expect(info.identifier.count == 16)
            #expect(try Data(contentsOf: file.url).range(of: data.prefix(64)) == nil)
            // Replaced, it keeps its class and permissions, and gets another key.
            chmod(file.path, 0o640)
            try file.write(Data("short".utf8))
            #expect(try file.protection == .complete)
            #expect(mode(of: file.path) == 0o640)
            #expect(try file.info() != info)
            #expect(try file.data() == Data("short".utf8))
            expect(.fileExists) { try file.write(Data(), options: .withoutOverwriting) }
            try file.write(Data(), options: .noFileProtection)
            #expect(try file.data().isEmpty)
            #expect(try file.protection == FileProtectionType.none)
            try file.verify()
        }
    }

    @Test func everyClassOfTheOptions() throws {
        try world.run {
            let options: [(Data.WritingOptions, FileProtectionType)] = [
                (.completeFileProtection, .complete), (.completeFileProtectionUnlessOpen, .completeUnlessOpen),
                (.completeFileProtectionUntilFirstUserAuthentication, .completeUntilFirstUserAuthentication),
                (.noFileProtection, .none), ([], .completeUntilFirstUserAuthentication),
            ]
            for (number, (option, type)) in options.enumerated() {
                let file = ProtectedFile(path: folder.path(of: "\(number)"))
                try file.write(Data("x".utf8), options: [option, .withoutOverwriting])
                #expect(try file.protection == type)
            }
            expect(.unsupported) { try file.setProtection(.inactive) }
        }
    }

    @Test func inPlace() throws {
        try world.run {
            expect(.fileNotFound) { _ = try file.protection }
            expect(.fileNotFound) { try file.protect(.complete) }
            try Data("plain".utf8).write(to: file.url)
            #expect(try !file.isProtected)
            #expect(try file.protection == nil)
            expect(.notProtected) { _ = try file.data() }
            expect(.notProtected) { try file.unprotect() }
            try file.setProtection(.complete)
            #expect(try file.protection == .complete)
            expect(.alreadyProtected) { try file.protect(.complete) }
            try file.setProtection(.completeUnlessOpen)
            #expect(try file.protection == .completeUnlessOpen)
            #expect(try file.data() == Data("plain".utf8))
            let identifier = try file.info()?.identifier
            var renewed: UInt64 = 0
            try file.renewKey { renewed += $0 }
            #expect(renewed == 5)
            #expect(try file.protection == .completeUnlessOpen && file.info()?.identifier != identifier)
            try file.renewKey(.complete)
            #expect(try file.protection == .complete)
            #expect(try file.data() == Data("plain".utf8))
            expect(.notProtected) { try ProtectedFile(path: "/etc/passwd").renewKey() }
            let other = ProtectedFile(path: folder.path(of: "copy"))
            try file.copy(to: other)
            #expect(try other.data() == Data("plain".utf8))
            #expect(try other.info()?.identifier != file.info()?.identifier)
            expect(.fileExists) { try file.copy(to: other) }
            var done: UInt64 = 0
            try file.unprotect { done += $0 }
            #expect(done == 5)
            #expect(try Data(contentsOf: file.url) == Data("plain".utf8))
        }
    }

    @Test func symbolicLinks() throws {
        try world.run {
            let link = ProtectedFile(path: folder.path(of: "link"))
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "file")
            expect(.fileNotFound) { try link.write(Data("x".utf8)) }
            try file.write(Data("old".utf8), options: .completeFileProtection)
            try link.write(Data("new".utf8))
            #expect(try file.data() == Data("new".utf8))
            #expect(try link.data() == Data("new".utf8))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "file")
            #expect(try file.protection == .complete)
            try link.unprotect()
            #expect(try !file.isProtected)
            try link.setProtection(.complete)
            #expect(try file.isProtected)
        }
    }

    @Test func whatIsNoFile() throws {
        let web = try #require(URL(string: "https://example.org/file"))
        expect(.invalidRequest) { _ = try ProtectedFile(web).data() }
        expect(.invalidRequest) { _ = try ProtectedFile(web).protection }
        world.run {
            expect(.notRegularFile) { _ = try ProtectedFile(path: folder.path).data() }
            expect(.notRegularFile) { try ProtectedFile(path: folder.path).protect(.complete) }
            expect(.fileNotFound) { try ProtectedFile(path: folder.path(of: "no/file")).write(Data()) }
        }
    }

    @Test func damage() throws {
        try world.run {
            try file.write(Data("some data".utf8), options: .completeFileProtection)
            var bytes = try Data(contentsOf: file.url)
            bytes[bytes.count - 1] ^= 1
            try FolderContents.write(bytes, to: file.path)
            expect(.damaged) { _ = try file.data() }
            expect(.damaged) { try file.verify() }
            // Of another vault.
            try file.write(Data("some data".utf8), options: .completeFileProtection)
        }
        try TestKeychain().run {
            expect(.damaged) { _ = try file.data() }
        }
    }

    /// Plaintext does not stay in memory that was given back.
    @Test func whatWasReadIsWiped() throws {
        try world.run {
            let text = Data("a sentence that nothing else in this process says".utf8)
            try file.write(text, options: .completeFileProtection)
            var data: Data? = try file.data()
            let place = try #require(data?.withUnsafeBytes { $0.baseAddress })
            data = nil
            // The first bytes may hold what the allocator keeps there.
            let left = UnsafeRawBufferPointer(start: place, count: text.count)
            #expect(!left[16...].elementsEqual(text[16...]))
        }
    }

    // MARK: Folders

    @Test func foldersHaveADefaultClass() throws {
        try world.run {
            let records = ProtectedFolder(path: folder.path(of: "records"))
            try records.create(protection: .complete)
            #expect(try records.defaultProtection == .complete)
            #expect(mode(of: records.path) == 0o700)
            let inside = ProtectedFile(records.url.appending(path: "file"))
            try inside.write(Data("x".utf8))
            #expect(try inside.protection == .complete)
            try inside.write(Data("x".utf8), options: .noFileProtection)
            #expect(try inside.protection == FileProtectionType.none)
            let below = ProtectedFolder(records.url.appending(path: "below"))
            try below.create()
            #expect(try below.defaultProtection == .complete)
            let handle = try ProtectedFileHandle(creating: below.url.appending(path: "handle"))
            #expect(try handle.protection == .complete)
            // What is there stays as it is.
            try records.setDefaultProtection(.completeUnlessOpen)
            #expect(try below.defaultProtection == .complete)
            #expect(try inside.protection == FileProtectionType.none)
            try records.setDefaultProtection(nil)
            #expect(try records.defaultProtection == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: records.path).sorted() == ["below", "file"])
            expect(.fileExists) { try below.create() }
            expect(.fileNotFound) { try ProtectedFolder(path: folder.path(of: "no/folder")).create() }
        }
    }

    @Test func aDamagedRecordKeepsFilesFromBeingMade() throws {
        try world.run {
            let records = ProtectedFolder(path: folder.path)
            try records.setDefaultProtection(.complete)
            let record = folder.path(of: ".keychain-folder")
            var bytes = try Data(contentsOf: URL(filePath: record))
            bytes[bytes.count - 1] ^= 1
            try FolderContents.write(bytes, to: record)
            expect(.damaged) { try file.write(Data("x".utf8)) }
            expect(.damaged) { try file.write(Data("x".utf8), options: .completeFileProtection) }
            expect(.damaged) { _ = try ProtectedFileHandle(creating: file.url) }
            expect(.damaged) { try ProtectedFolder(path: folder.path(of: "below")).create() }
            expect(.damaged) { _ = try records.defaultProtection }
            try Data("KCFOLDER".utf8).write(to: URL(filePath: record))
            expect(.notProtected) { try file.write(Data("x".utf8)) }
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test func foldersWhoseNamesAreEncrypted() throws {
        try world.run {
            try FolderRecord(.complete, encryptingNames: true).write(in: folder.path, keys: VaultSession.current())
            expect(.unsupported) { try file.write(Data("x".utf8)) }
            expect(.unsupported) { try ProtectedFolder(path: folder.path(of: "below")).create() }
            let records = ProtectedFolder(path: folder.path)
            try records.setDefaultProtection(nil)
            #expect(try FolderRecord.read(in: folder.path, keys: VaultSession.current())?.encryptsNames == true)
        }
    }

    @Test func aLockedVault() throws {
        try world.run {
            try file.write(Data("x".utf8), options: .completeFileProtection)
            world.lock()
            expect(.locked) { _ = try file.data() }
            expect(.locked) { try file.write(Data("y".utf8)) }
            expect(.locked) { try file.setProtection(.none) }
            expect(.locked) { try file.unprotect() }
            expect(.locked) { try file.verify() }
            expect(.locked) { try file.copy(to: ProtectedFile(path: folder.path(of: "copy"))) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
            try file.write(Data("z".utf8), options: .completeFileProtectionUnlessOpen)
            expect(.locked) { _ = try file.data() }
            world.unlock()
            #expect(try file.data() == Data("z".utf8))
        }
    }
}
