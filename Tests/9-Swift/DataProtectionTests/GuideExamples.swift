import DataProtection
import DataProtectionNetworking
import Foundation
import FoundationNetworking
import KeychainTesting
import TestSupport
import Testing

/// The examples of Documentation/Use/DataProtection.md, run. ``GuideTests`` checks that they are the same.
@Suite struct GuideExamples {
    private let place: TemporaryFolder
    private var folder: URL { URL(filePath: place.path, directoryHint: .isDirectory) }

    init() throws { place = try TemporaryFolder() }

    @Test func first() throws {
        try withTestKeychain { _ in
            let file = ProtectedFile(folder.appending(path: "diary"))
            try file.write(Data("Dear diary".utf8), options: .completeFileProtection)
            let text = try file.data()
            #expect(text == Data("Dear diary".utf8))
            #expect(try file.protection == .complete)
        }
    }

    @Test func manager() throws {
        try withTestKeychain { _ in
            let records = place.path(of: "records")
            let manager = ProtectedFileManager.default
            try manager.createDirectory(
                atPath: records, withIntermediateDirectories: true,
                attributes: [.protectionKey: FileProtectionType.complete])
            let isMade = manager.createFile(atPath: records + "/tax", contents: Data("4711".utf8))  // complete
            #expect(isMade)
            #expect(try ProtectedFile(path: records + "/tax").protection == .complete)
            try manager.setAttributes(
                [.protectionKey: FileProtectionType.completeUnlessOpen], ofItemAtPath: records + "/tax")
            let attributes = try manager.attributesOfItem(atPath: records + "/tax")
            let isOpenAlways = attributes[.protectionKey] as? FileProtectionType == .completeUnlessOpen
            let size = attributes[.size] as? Int  // of the data: 4
            let contents = manager.contents(atPath: records + "/tax")
            #expect(isOpenAlways)
            #expect(size == 4)
            #expect(contents == Data("4711".utf8))
        }
    }

    @Test func parts() async throws {
        try await withTestKeychain { _ in
            let handle = try ProtectedFileHandle(
                creating: folder.appending(path: "log"), protection: .completeUnlessOpen)
            try handle.write(contentsOf: Data("first\n".utf8))
            try handle.append(contentsOf: Data("second\n".utf8))
            let second = try handle.read(upToCount: 6, at: 6)
            try handle.synchronize()

            var lines = 0
            for try await byte in ProtectedFile(folder.appending(path: "log")).bytes where byte == UInt8(ascii: "\n") {
                lines += 1
            }
            #expect(second == Data("second".utf8))
            #expect(lines == 2)
        }
    }

    @Test func lock() async throws {
        try await withTestKeychain { world in
            let file = ProtectedFile(folder.appending(path: "diary"))
            try file.write(Data("Dear diary".utf8), options: .completeFileProtection)
            var text = Data()
            world.lock()
            let unlocking = Task { world.unlock() }
            do {
                text = try file.data()
            } catch ProtectedFileError.Code.locked {
                for await event in try ProtectedData.events() where event == .didBecomeAvailable { break }
                text = try file.data()
            }
            await unlocking.value
            #expect(text == Data("Dear diary".utf8))
        }
    }

    @Test func password() throws {
        let copy = PasswordProtectedFile(folder.appending(path: "diary.kcp"))
        let password = try PasswordProtectedFile.Password("correct horse battery staple")
        try copy.write(Data("Dear diary".utf8), password: password)
        let text = try copy.data(password: password)
        #expect(text == Data("Dear diary".utf8))
    }

    @Test func download() async throws {
        let server = try TestServer()
        let address = server.url("small")
        try await withTestKeychain { _ in
            let report = ProtectedFile(folder.appending(path: "report"))
            try await URLSession.shared.download(from: address, to: report, protection: .completeUnlessOpen)
            #expect(try report.data() == Data("the body".utf8))
        }
    }

    @Test func backups() throws {
        try folder.setExcludedFromBackup(true)
        let isExcluded = try folder.isExcludedFromBackup()
        #expect(isExcluded)
    }

    @Test func tests() throws {
        let world = try TestKeychain()
        try world.run {
            let handle = try ProtectedFileHandle(creating: folder.appending(path: "note"), protection: .complete)
            world.lock()
            #expect(throws: ProtectedFileError.self) { try handle.append(contentsOf: Data("more".utf8)) }
        }
    }
}
