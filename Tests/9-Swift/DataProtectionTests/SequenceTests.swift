import DataProtection
import Foundation
import Glibc
import KeychainTesting
import TestSupport
import Testing

/// Files that are read piece by piece.
@Suite struct SequenceTests {
    private let folder: TemporaryFolder
    private let world: TestKeychain

    init() throws {
        folder = try TemporaryFolder()
        world = try TestKeychain()
    }

    private var file: ProtectedFile { ProtectedFile(path: folder.path(of: "file")) }

    /// How often this process has the file open.
    private func openings() throws -> Int {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name)) == file.path
        }
    }

    @Test(arguments: [0, 1, 65_536, 1_000_003])
    func piecesMakeTheWhole(size: Int) async throws {
        try await world.run {
            var random = SeededGenerator()
            let data = random.bytes(size)
            try file.write(data, options: .completeFileProtection)
            var whole = Data()
            for try await piece in file.chunks() { whole += piece }
            #expect(whole == data)
            whole = Data()
            for try await piece in file.chunks(of: 10_000) {
                #expect(piece.count == 10_000 || whole.count + piece.count == size)
                whole += piece
            }
            #expect(whole == data)
            var bytes: [UInt8] = []
            for try await byte in file.bytes { bytes.append(byte) }
            #expect(Data(bytes) == data)
            // From the position on, which moves.
            let handle = try ProtectedFileHandle(forReadingFrom: file.url)
            try handle.seek(toOffset: UInt64(size / 2))
            whole = Data()
            for try await piece in handle.chunks(of: 7) {
                whole += piece
                if whole.count >= 70 { break }
            }
            #expect(whole == data[(size / 2)...].prefix(whole.count))
            #expect(try handle.offset() == UInt64(size / 2 + whole.count))
            handle.close()
            #expect(try openings() == 0)
        }
    }

    @Test func aCanceledTaskLeavesNothingOpen() async throws {
        try await world.run {
            try file.write(Data(count: 8 << 20), options: .completeFileProtection)
            for _ in 0..<10 {
                let (begun, cue) = AsyncStream<Void>.makeStream()
                let task = Task {
                    var pieces = 0
                    for try await _ in file.chunks(of: 1000) {
                        pieces += 1
                        if pieces == 3 { cue.yield() }
                        // Waits for the cancellation, and goes on all the same.
                        if pieces == 3 { try? await Task.sleep(for: .seconds(60)) }
                    }
                }
                for await _ in begun { break }
                #expect(try openings() == 1)
                task.cancel()
                await #expect(throws: ProtectedFileError(.taskCanceled, message: "")) { try await task.value }
                #expect(try openings() == 0)
            }
        }
    }

    @Test func aLockEndsIt() async throws {
        try await world.run {
            try file.write(Data(count: 1 << 20), options: .completeFileProtection)
            var pieces = 0
            await #expect(throws: ProtectedFileError(.locked, message: "")) {
                for try await _ in file.chunks(of: 65_536) {
                    pieces += 1
                    if pieces == 2 { world.lock() }
                }
            }
            #expect(pieces == 2)
            #expect(try openings() == 0)
            await #expect(throws: ProtectedFileError(.locked, message: "")) { for try await _ in file.bytes {} }
        }
    }

    /// 256 MiB, written and read in another process.
    @Test func memoryDoesNotGrowWithTheFile() throws {
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "DataWorker").path
        func run(_ arguments: String...) throws -> [Int] {
            let home = "KEYCHAIN_HOME=\(folder.path(of: "vault"))"
            let worker = try Worker([home, binary] + arguments, command: "env")
            let line = worker.readLine() ?? ""
            return line.split(separator: " ").compactMap { Int($0) }
        }
        let written = try run("write", file.path, "256")
        #expect(written.first == 256 << 20)
        #expect(try #require(written.last) < 8 << 10, "KiB more after the first MiB")
        let read = try run("chunks", file.path)
        #expect(read.first == 256 << 20)
        #expect(try #require(read.last) < 8 << 10, "KiB more after the first piece")
    }
}
