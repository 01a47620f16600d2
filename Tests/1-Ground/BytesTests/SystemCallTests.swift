import CLibrary
import Foundation
import TestSupport
import Testing

/// Whole reads and writes, which a call alone does not promise.
@Suite struct SystemCallTests {
    @Test func anInterruptedCallIsMadeAgain() {
        var calls = 0
        let result = SystemCall.retryOnInterrupt { () -> Int in
            calls += 1
            errno = calls < 3 ? EINTR : EIO
            return calls < 4 ? -1 : 0
        }
        // The third fails for another reason.
        #expect(result == -1 && calls == 3)
    }

    /// A pipe takes a part of so many bytes at once.
    @Test func aPipeGetsAllBytes() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        let thread = Thread {
            _ = bytes.withUnsafeBytes { SystemCall.writeAll($0, to: writer) }
            close(writer)
        }
        thread.start()
        var found = [UInt8](repeating: 0, count: bytes.count + 10)
        let count = found.withUnsafeMutableBytes { SystemCall.readAll(into: $0, from: reader) }
        close(reader)
        #expect(count == bytes.count && Array(found.prefix(count)) == bytes)
    }

    @Test func placesInAFile() throws {
        let folder = try TemporaryFolder()
        let file = open(folder.path(of: "file"), O_RDWR | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        #expect([1, 2, 3].withUnsafeBytes { SystemCall.writeAll($0, to: file, at: 5) } == true)
        #expect([UInt8]().withUnsafeBytes { SystemCall.writeAll($0, to: file, at: 100) } == true)
        var room = [UInt8](repeating: 9, count: 100)
        let size = 5 + 3 * MemoryLayout<Int>.size
        #expect(room.withUnsafeMutableBytes { SystemCall.readAll(into: $0, from: file, at: 0) } == size)
        #expect(room.withUnsafeMutableBytes { SystemCall.readAll(into: $0, from: file, at: 1000) } == 0)
    }

    @Test func whatFailsSaysWhy() throws {
        let folder = try TemporaryFolder()
        let file = open(folder.path(of: "file"), O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        var room: [UInt8] = [0]
        #expect(room.withUnsafeMutableBytes { SystemCall.readAll(into: $0, from: file) } == -1 && errno == EBADF)
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        close(ends[1])
        // No signal ends this process.
        let isSent = room.withUnsafeBytes { SystemCall.sendAll($0, to: ends[0]) }
        #expect(!isSent && errno == EPIPE)
        close(ends[0])
    }
}
