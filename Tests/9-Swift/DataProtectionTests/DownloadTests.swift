import DataProtection
import DataProtectionNetworking
import Foundation
import FoundationNetworking
import KeychainTesting
import Synchronization
import TestSupport
import Testing

/// Downloads, from a real server in another process.
@Suite(.timeLimit(.minutes(60))) struct DownloadTests {
    private let folder: TemporaryFolder
    private let world: TestKeychain
    private let server: TestServer

    init() throws {
        folder = try TemporaryFolder()
        world = try TestKeychain()
        server = try TestServer()
    }

    private var file: ProtectedFile { ProtectedFile(path: folder.path(of: "file")) }
    private var session: URLSession { URLSession(configuration: .ephemeral) }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(arguments: ["small", "chunked", "moved", "empty", "close"])
    func whole(_ name: String) async throws {
        try await world.run { () async throws in
            let response = try await session.download(from: server.url(name), to: file, protection: .complete)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(try file.protection == .complete)
            #expect(try file.data() == (name == "empty" ? Data() : Data("the body".utf8)))
            #expect(try names() == ["file"])
        }
    }

    @Test func progress() async throws {
        try await world.run { () async throws in
            let seen = Collected<[Int64?]>()
            try await session.download(from: server.url("big"), to: file) { seen.append([$0, $1]) }
            #expect(try file.info()?.size == 8 << 20)
            #expect(seen.all.allSatisfy { $0[1] == 8 << 20 })
            let received = seen.all.compactMap { $0[0] }
            #expect(received == received.sorted())
            #expect(received.last == 8 << 20)
            #expect(try file.data().allSatisfy { $0 == 0x78 })
        }
    }

    @Test(arguments: ["missing", "broken", "cut", "cut-chunked", "reset"])
    func whatFailsLeavesNothing(_ name: String) async throws {
        try await world.run { () async throws in
            await #expect(throws: URLError.self) { try await session.download(from: server.url(name), to: file) }
            #expect(try names() == [])
            try file.write(Data("old".utf8), options: .completeFileProtection)
            await #expect(throws: URLError.self) { try await session.download(from: server.url(name), to: file) }
            #expect(try file.data() == Data("old".utf8))
            #expect(try names() == ["file"])
        }
    }

    @Test func statusAndAddress() async throws {
        try await world.run { () async throws in
            do {
                try await session.download(from: server.url("missing"), to: file)
                Issue.record("no error")
            } catch {
                #expect((error as? URLError)?.code == .badServerResponse)
                #expect(error.localizedDescription.contains("404"))
            }
            server.stop()
            do {
                try await session.download(from: server.url("small"), to: file)
                Issue.record("no error")
            } catch {
                #expect((error as? URLError)?.code == .cannotConnectToHost)
            }
            #expect(try names() == [])
        }
    }

    @Test func cancellation() async throws {
        try await world.run { () async throws in
            let (begun, cue) = AsyncStream<Void>.makeStream()
            let task = Task {
                try await session.download(from: server.url("endless"), to: file) { _, _ in cue.yield() }
            }
            for await _ in begun { break }
            task.cancel()
            do {
                _ = try await task.value
                Issue.record("no error")
            } catch {
                #expect((error as? URLError)?.code == .cancelled)
            }
            #expect(try names() == [])
        }
    }

    /// The server sends faster than this program writes, so that the connection always has more to read.
    @Test func cancellationOfATransferThatWaits() async throws {
        try await world.run { () async throws in
            let (full, cue) = AsyncStream<Void>.makeStream()
            let pieces = Mutex(0)
            let task = Task {
                try await session.download(from: server.url("endless"), to: file) { _, _ in
                    usleep(2_000)
                    if pieces.withLock({
                        $0 += 1
                        return $0
                    }) == 200 {
                        cue.yield()
                    }
                }
            }
            for await _ in full { break }
            task.cancel()
            let result = await task.result
            #expect(throws: URLError(.cancelled)) { try result.get() }
            let written = pieces.withLock { $0 }
            try await session.download(from: server.url("small"), to: file)
            #expect(pieces.withLock { $0 } == written)
            #expect(try names() == ["file"])
        }
    }

    /// The transfer may end before anybody waits for it.
    @Test func cancellationBeforeTheBeginning() async throws {
        try await world.run { () async throws in
            for _ in 0..<50 {
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await session.download(from: server.url("small"), to: file)
                }
                let result = await task.result
                #expect(throws: URLError.self) { try result.get() }
            }
            #expect(try names() == [])
        }
    }

    @Test func aLockEndsIt() async throws {
        try await world.run { () async throws in
            let seen = Collected<Int>()
            do {
                try await session.download(from: server.url("endless"), to: file, protection: .complete) { _, _ in
                    seen.append(1)
                    if seen.all.count == 2 { world.lock() }
                }
                Issue.record("no error")
            } catch {
                #expect(ProtectedFileError.Code.locked ~= error, "\(error)")
            }
            #expect(try names() == [])
            // Nothing is asked for that could not be kept.
            let before = server.requests()
            await #expect(throws: ProtectedFileError(.locked, message: "")) {
                try await session.download(from: server.url("small"), to: file, protection: .complete)
            }
            #expect(server.requests() == before)
            try await session.download(from: server.url("small"), to: file, protection: .completeUnlessOpen)
            world.unlock()
            #expect(try file.data() == Data("the body".utf8))
        }
    }

    /// Nothing of the body is on the disk.
    @Test func nothingIsPlain() async throws {
        try await world.run { () async throws in
            try await session.download(from: server.url("big"), to: file)
            #expect(try Data(contentsOf: file.url).range(of: Data(repeating: 0x78, count: 64)) == nil)
        }
    }

    /// 256 MiB in another process.
    @Test func memoryDoesNotGrowWithTheBody() throws {
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "DataWorker").path
        let home = "KEYCHAIN_HOME=\(folder.path(of: "vault"))"
        let worker = try Worker(
            [home, binary, "download", file.path, server.url("huge").absoluteString], command: "env")
        let numbers = (worker.readLine() ?? "").split(separator: " ")
        #expect(numbers.first == "\(256 << 20)")
        #expect(try #require(numbers.last.flatMap { Int($0) }) < 48 << 10, "KiB more than for a small body")
    }
}
