import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import ProtectedFiles

/// What is not converted stays as it is to the byte, and nothing is left beside it.
@Suite struct RefusedConversionTests {
    private let folder: TemporaryFolder
    private let keys = MemoryFileKeys()
    private let conversion: FileConversion
    private var path: String { folder.path(of: "file") }
    private var other: String { folder.path(of: "other") }

    enum Direction: CaseIterable { case protecting, unprotecting, renewing }

    init() throws {
        folder = try TemporaryFolder()
        conversion = FileConversion(keys: keys)
    }

    /// Makes a file that can be converted.
    private func put(_ direction: Direction, count: Int = 100) throws {
        // A hundred of each byte.
        let data = (0..<(count + 99) / 100).reduce(into: Data(capacity: count)) {
            $0.append(Data(repeating: UInt8(truncatingIfNeeded: $1), count: min(100, count - 100 * $1)))
        }
        try data.write(to: URL(filePath: path))
        if direction != .protecting { try conversion.protect(path, .complete) }
    }

    private func convert(_ path: String, _ direction: Direction, _ progress: (UInt64) -> Void = { _ in }) throws {
        switch direction {
        case .protecting: try conversion.protect(path, .complete, progress: progress)
        case .unprotecting: try conversion.unprotect(path, progress: progress)
        case .renewing: try conversion.renewKey(path, progress: progress)
        }
    }

    private func expect(_ error: SealedFileError, _ path: String, _ direction: Direction) throws {
        let before = try FolderState(folder.path)
        #expect(throws: error) { try convert(path, direction) }
        #expect(try FolderState(folder.path) == before)
    }

    @Test(arguments: Direction.allCases) func hardLinks(_ direction: Direction) throws {
        try put(direction)
        #expect(link(path, other) == 0)
        try expect(.hardLinked(path: path, names: 2), path, direction)
    }

    @Test(arguments: Direction.allCases) func symbolicLinks(_ direction: Direction) throws {
        try put(direction)
        #expect(symlink("file", other) == 0)
        try expect(.symbolicLink(path: other), other, direction)
        let dangling = folder.path(of: "dangling")
        #expect(symlink("nothing", dangling) == 0)
        try expect(.symbolicLink(path: dangling), dangling, direction)
    }

    @Test(arguments: Direction.allCases) func foldersPipesAndDevices(_ direction: Direction) throws {
        #expect(mkdir(other, 0o700) == 0)
        try expect(.notRegular(path: other), other, direction)
        #expect(mkfifo(path, 0o600) == 0)
        try expect(.notRegular(path: path), path, direction)
        try expect(.notRegular(path: "/dev/null"), "/dev/null", direction)
        let missing = folder.path(of: "missing")
        try expect(.notFound(path: missing), missing, direction)
    }

    /// What another program may do to the file while it is read.
    enum Meddling: CaseIterable { case appends, cuts, overwrites, overwritesAndSetsTheTime, changesMode, addsName }

    private func meddle(_ how: Meddling) throws {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        var information = stat()
        fstat(descriptor, &information)
        switch how {
        case .appends: _ = pwrite(descriptor, "x", 1, information.st_size)
        case .cuts: ftruncate(descriptor, information.st_size - 1)
        case .overwrites: _ = pwrite(descriptor, "x", 1, 5_000)
        case .overwritesAndSetsTheTime:
            _ = pwrite(descriptor, "x", 1, 5_000)
            futimens(descriptor, [information.st_atim, information.st_mtim])
        case .changesMode: fchmod(descriptor, 0o640)
        case .addsName: #expect(link(path, other) == 0)
        }
    }

    /// The other program's change wins, and the file is what that program made of it.
    @Test(arguments: Direction.allCases, Meddling.allCases)
    func changesOfOthers(_ direction: Direction, _ how: Meddling) throws {
        try put(direction, count: 3 << 20)
        var after: FolderState?
        #expect(throws: SealedFileError.self) {
            try convert(path, direction) { _ in
                guard after == nil else { return }
                do {
                    try waitForLaterTime()
                    try meddle(how)
                    after = try FolderState(folder.path)
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(try FolderState(folder.path) == after)
    }

    /// Waits until a change would get another time than the file has: those have the resolution of the kernel's clock.
    private func waitForLaterTime() throws {
        var information = stat()
        try #require(stat(path, &information) == 0)
        var now = timespec()
        repeat {
            usleep(500)
            // The clock that the kernel takes the times of files from (clock_gettime(2)).
            clock_gettime(CLOCK_REALTIME_COARSE, &now)
        } while (now.tv_sec, now.tv_nsec) <= (information.st_ctim.tv_sec, information.st_ctim.tv_nsec)
    }

    @Test(arguments: Direction.allCases) func closedClasses(_ direction: Direction) throws {
        try put(direction)
        keys.close(.complete)
        try expect(.refused(.interactionNotAllowed(reason: "the class is closed")), path, direction)
    }

    @Test(arguments: Direction.allCases) func foldersThatCannotBeWritten(_ direction: Direction) throws {
        try put(direction)
        UnprivilegedWorker.give(path)
        UnprivilegedWorker.give(folder.path)
        chmod(folder.path, 0o555)
        defer { chmod(folder.path, 0o700) }
        try expectFailure("Permission denied", direction)
    }

    @Test(arguments: Direction.allCases) func filesThatCannotBeRead(_ direction: Direction) throws {
        try put(direction)
        UnprivilegedWorker.give(folder.path)
        chmod(path, geteuid() == 0 ? 0o600 : 0)
        defer { chmod(path, 0o600) }
        try expectFailure("Permission denied", direction)
    }

    @Test(.enabled(if: geteuid() == 0, "takes root to have a file of somebody else"), arguments: Direction.allCases)
    func filesOfOthers(_ direction: Direction) throws {
        try put(direction)
        UnprivilegedWorker.give(folder.path)
        chmod(path, 0o644)
        try expectFailure("cannot keep the owner", direction)
    }

    private static let canMakeImmutable: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        defer { _ = try? ProgramStart(["chattr", "-i", folder.path]).run() }
        return (try? ProgramStart(["chattr", "+i", folder.path]).run().status) == 0
    }()

    @Test(
        .enabled(if: canMakeImmutable, "this user or file system has no immutable files"), arguments: ["file", ""],
        Direction.allCases)
    func immutableFilesAndFolders(_ name: String, _ direction: Direction) throws {
        try put(direction)
        let target = folder.path(of: name)
        #expect(try ProgramStart(["chattr", "+i", target]).run().status == 0)
        defer { _ = try? ProgramStart(["chattr", "-i", target]).run() }
        let before = try FolderState(folder.path)
        #expect(throws: SealedFileError.self) { try convert(path, direction) }
        #expect(try FolderState(folder.path) == before)
    }

    /// Lets a user without rights try it.
    private func expectFailure(_ reason: String, _ direction: Direction) throws {
        let before = geteuid() == 0 ? try FolderState(folder.path) : nil
        let commands: [Direction: String] = [.protecting: "protect", .unprotecting: "unprotect", .renewing: "renew"]
        let said = try UnprivilegedWorker.run(#require(commands[direction]), path)
        #expect(said.hasPrefix("error ") && said.contains(reason), "\(said)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
        // Who is not root cannot look at all of it.
        if let before { #expect(try FolderState(folder.path) == before) }
    }
}
