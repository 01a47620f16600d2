import Foundation
import Glibc
import PrivateFiles
import Synchronization
import TestSupport
import Testing

@Suite struct PrivateFolderTests {
    private let temporary: TemporaryFolder
    private let folder: PrivateFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = try PrivateFolder(existing: temporary.path)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: temporary.path).sorted() }
    }

    @Test func replacingLeavesOneFile() throws {
        for contents in [Data(), Data("first".utf8), Data(repeating: 7, count: 100_000)] {
            try folder.replace("file", with: contents)
            #expect(try folder.read("file", limit: 100_000) == contents)
            #expect(try names == ["file"])
            #expect(try FolderContents.mode(of: temporary.path(of: "file")) == S_IFREG | 0o600)
        }
    }

    @Test func aFailedReplacementLeavesNothing() throws {
        mkdir(temporary.path(of: "file"), 0o700)
        #expect(throws: FileError.self) { try folder.replace("file", with: Data("new".utf8)) }
        #expect(try names == ["file"])
    }

    @Test func readsAreLimited() throws {
        try folder.replace("file", with: Data(repeating: 1, count: 11))
        #expect(throws: FileError.tooLarge(path: temporary.path(of: "file"), size: 11)) {
            try folder.read("file", limit: 10)
        }
        #expect(try folder.read("file", limit: 11) == Data(repeating: 1, count: 11))
        #expect(throws: FileError.notFound(path: temporary.path(of: "none"))) { try folder.read("none", limit: 10) }
    }

    @Test func touchingAndRemovingMayBeRepeated() throws {
        for _ in 0..<2 {
            try folder.touch("file")
            #expect(folder.contains("file"))
            try folder.checkFile("file")
        }
        for _ in 0..<2 {
            try folder.remove("file")
            #expect(!folder.contains("file"))
        }
    }

    @Test func aFileIsTheSameUntilItIsReplaced() throws {
        try folder.replace("file", with: Data("one".utf8))
        let before = try folder.identity(of: "file")
        #expect(try folder.identity(of: "file") == before)
        // The old file stays, so that its number cannot be given to the new one.
        #expect(link(temporary.path(of: "file"), temporary.path(of: "kept")) == 0)
        try folder.replace("file", with: Data("one".utf8))
        #expect(try folder.identity(of: "file") != before)
    }

    @Test func theLockIsHeldByOne() throws {
        let inside = Mutex((now: 0, most: 0, total: 0))
        let group = DispatchGroup()
        let folder = folder
        for _ in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                for _ in 0..<20 {
                    try? folder.withLock {
                        inside.withLock {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        sched_yield()
                        inside.withLock {
                            $0.now -= 1
                            $0.total += 1
                        }
                    }
                }
            }
        }
        group.wait()
        #expect(inside.withLock { $0.most } == 1)
        #expect(inside.withLock { $0.total } == 80)
    }

    @Test func waitingForTheLockEnds() throws {
        try folder.withLock { () -> Void in
            #expect(throws: FileError.lockTimeout(path: temporary.path(of: "lock"))) {
                try folder.withLock(deadline: .milliseconds(30)) {}
            }
        }
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try folder.withLock { throw Refusal() } }
        // Neither a timeout nor an error keeps the lock.
        #expect(try folder.withLock(deadline: .milliseconds(30)) { 5 } == 5)
    }
}
