import DataProtection
import Foundation
import KeychainTesting
import TestSupport
import Testing

/// Open protected files.
@Suite struct HandleTests {
    private let folder: TemporaryFolder
    private let world: TestKeychain

    init() throws {
        folder = try TemporaryFolder()
        world = try TestKeychain()
    }

    private var url: URL { URL(filePath: folder.path(of: "file")) }

    private func expect(_ code: ProtectedFileError.Code, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("no error instead of \(code)")
        } catch {
            #expect(code ~= error, "\(error)")
        }
    }

    /// Only the bits of chmod(2) count, whatever the number.
    @Test(arguments: [-1, Int.min, Int.max, 1 << 40 | 0o600])
    func permissionsThatAreNone(_ number: Int) throws {
        try world.run {
            try ProtectedFileHandle(creating: url, permissions: number).close()
            let writer = try ProtectedFileWriter(ProtectedFile(url), permissions: number)
            try writer.finish()
            try ProtectedFolder(path: folder.path(of: "folder")).create(permissions: number)
            #expect(try ProtectedFile(url).isProtected)
        }
    }

    @Test func readsAndWritesAsAFileHandle() throws {
        try world.run {
            let handle = try ProtectedFileHandle(creating: url)
            #expect(try handle.protection == .completeUntilFirstUserAuthentication)
            #expect(try handle.readToEnd() == nil)
            try handle.write(contentsOf: Data("hello, world".utf8))
            #expect(try handle.offset() == 12)
            try handle.seek(toOffset: 7)
            #expect(try handle.read(upToCount: 3) == Data("wor".utf8))
            #expect(try handle.read(upToCount: 100) == Data("ld".utf8))
            #expect(try handle.read(upToCount: 1) == nil)
            #expect(try handle.read(upToCount: 0) == Data())
            #expect(try handle.read(upToCount: 5, at: 0) == Data("hello".utf8))
            #expect(try handle.offset() == 12)
            try handle.write(contentsOf: [UInt8]("H".utf8), at: 0)
            #expect(try handle.append(contentsOf: "!".utf8.map { $0 }) == 12)
            #expect(try handle.seekToEnd() == 13)
            try handle.seek(toOffset: 0)
            #expect(try handle.readToEnd() == Data("Hello, world!".utf8))
            try handle.truncate(atOffset: 5)
            #expect(try handle.length == 5)
            #expect(try handle.offset() == 5)
            // What lies between the end and what is written is zeros.
            try handle.seek(toOffset: 7)
            try handle.write(contentsOf: DispatchData.empty)
            try handle.write(contentsOf: Data([1]))
            #expect(try handle.read(upToCount: 10, at: 4) == Data([0x6F, 0, 0, 1]))
            try handle.synchronize()
            handle.close()
            expect(.closed) { _ = try handle.read(upToCount: 1) }
            expect(.closed) { _ = try handle.length }
            #expect(try ProtectedFile(url).data() == Data("Hello".utf8) + [0, 0, 1])
        }
    }

    @Test func modes() throws {
        try world.run {
            expect(.fileNotFound) { _ = try ProtectedFileHandle(forReadingFrom: url) }
            try ProtectedFile(url).write(Data("data".utf8))
            expect(.fileExists) { _ = try ProtectedFileHandle(creating: url) }
            let reading = try ProtectedFileHandle(forReadingFrom: url)
            expect(.wrongMode) { try reading.write(contentsOf: Data([1])) }
            expect(.wrongMode) { try reading.append(contentsOf: Data([1])) }
            expect(.wrongMode) { try reading.truncate(atOffset: 0) }
            expect(.wrongMode) { try reading.setProtection(.complete) }
            let writing = try ProtectedFileHandle(forWritingTo: url, durability: .power)
            try writing.write(contentsOf: Data("D".utf8))
            expect(.wrongMode) { _ = try writing.read(upToCount: 1) }
            #expect(try reading.read(upToCount: 9) == Data("Data".utf8))
            let plain = URL(filePath: folder.path(of: "plain"))
            try Data("plain".utf8).write(to: plain)
            expect(.notProtected) { _ = try ProtectedFileHandle(forReadingFrom: plain) }
            expect(.notRegularFile) { _ = try ProtectedFileHandle(forReadingFrom: URL(filePath: folder.path)) }
        }
    }

    /// Every class, with a handle that was open before.
    @Test func locking() throws {
        try world.run {
            let kinds: [FileProtectionType] = [
                .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication, .none,
            ]
            var handles: [ProtectedFileHandle] = []
            for type in kinds {
                let url = URL(filePath: folder.path(of: type.rawValue))
                let handle = try ProtectedFileHandle(creating: url, protection: type)
                try handle.write(contentsOf: Data("data".utf8))
                handles.append(handle)
            }
            world.lock()
            for (type, handle) in zip(kinds, handles) {
                let isClosed = type == .complete
                if isClosed {
                    expect(.locked) { _ = try handle.read(upToCount: 4, at: 0) }
                    expect(.locked) { try handle.append(contentsOf: Data("!".utf8)) }
                    expect(.locked) { _ = try handle.offset() }
                } else {
                    #expect(try handle.read(upToCount: 4, at: 0) == Data("data".utf8))
                    try handle.append(contentsOf: Data("!".utf8))
                }
                let opens = type == .completeUntilFirstUserAuthentication || type == FileProtectionType.none
                if !opens { expect(.locked) { _ = try ProtectedFileHandle(forReadingFrom: handle.file.url) } }
                // What it is shows all the same.
                #expect(try handle.file.protection == type)
            }
            // Made and written while locked, and read afterwards.
            let late = URL(filePath: folder.path(of: "late"))
            let made = try ProtectedFileHandle(creating: late, protection: .completeUnlessOpen)
            try made.write(contentsOf: Data("late".utf8))
            #expect(try made.read(upToCount: 4, at: 0) == Data("late".utf8))
            made.close()
            expect(.locked) { _ = try ProtectedFile(late).data() }
            expect(.locked) { _ = try ProtectedFileHandle(creating: url, protection: .complete) }
            #expect(!FileManager.default.fileExists(atPath: url.path))
            world.unlock()
            #expect(try ProtectedFile(late).data() == Data("late".utf8))
            // Its key is gone for good.
            expect(.locked) { _ = try handles[0].read(upToCount: 4, at: 0) }
            #expect(try ProtectedFileHandle(forReadingFrom: handles[0].file.url).readToEnd() == Data("data".utf8))
        }
    }

    @Test func aHandleThatChangesItsClass() throws {
        try world.run {
            let handle = try ProtectedFileHandle(creating: url, protection: .complete)
            try handle.setProtection(.completeUnlessOpen)
            world.lock()
            try handle.append(contentsOf: Data("still open".utf8))
            expect(.locked) { try handle.setProtection(.complete) }
            try handle.append(contentsOf: Data("!".utf8))
            world.unlock()
            try handle.setProtection(.complete)
            #expect(try handle.protection == .complete)
            world.lock()
            expect(.locked) { try handle.append(contentsOf: Data("?".utf8)) }
            world.unlock()
            #expect(try ProtectedFile(url).data() == Data("still open!".utf8))
        }
    }

    /// A writer of a whole file.
    @Test func writersGiveUpAtALock() throws {
        try world.run {
            let file = ProtectedFile(url)
            try file.write(Data("old".utf8), options: .completeFileProtection)
            let writer = try ProtectedFileWriter(file)
            #expect(writer.protection == .complete)
            try writer.write(contentsOf: Data("new".utf8))
            #expect(try writer.length == 3)
            let open = try ProtectedFileWriter(
                ProtectedFile(path: folder.path(of: "open")), protection: .completeUnlessOpen)
            try open.write(contentsOf: Data("new".utf8))
            world.lock()
            expect(.locked) { try writer.write(contentsOf: Data("er".utf8)) }
            expect(.locked) { try writer.finish() }
            try open.finish()
            expect(.closed) { try open.finish() }
            world.unlock()
            #expect(try file.data() == Data("old".utf8))
            #expect(try open.file.data() == Data("new".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["file", "open"])
        }
    }

    @Test func manyThreads() throws {
        try world.run {
            let handle = try ProtectedFileHandle(creating: url, protection: .complete)
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                for _ in 0..<50 { _ = try? handle.append(contentsOf: Data(repeating: UInt8(number), count: 100)) }
            }
            let data = try #require(try handle.read(upToCount: 1 << 20, at: 0))
            #expect(data.count == 8 * 50 * 100)
            // Each append is whole.
            let pieces = stride(from: 0, to: data.count, by: 100).map { Set(data[$0..<($0 + 100)]).count }
            #expect(Set(pieces) == [1])
        }
    }
}
