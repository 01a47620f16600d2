import Foundation
import Glibc
import TestSupport
import Testing

/// What the vault's lock does to files that are open, mapped and cached.
@Suite struct LockTests {
    private func descriptor(_ path: String, _ flags: Int32) throws -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0, "\(path): \(String(cString: strerror(errno)))")
        return descriptor
    }

    /// The errno of reading the first byte, or 0.
    private func readError(_ descriptor: Int32) -> Int32 {
        var byte: UInt8 = 0
        return pread(descriptor, &byte, 1, 0) == 1 ? 0 : errno
    }

    private func writeError(_ descriptor: Int32) -> Int32 {
        var byte = UInt8(ascii: "x")
        return pwrite(descriptor, &byte, 1, 0) == 1 ? 0 : errno
    }

    private func openError(_ path: String, _ flags: Int32 = O_RDONLY) -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return 0
    }

    /// The mount hears of a lock a moment after the command has returned.
    private func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(10)
        while try !condition() {
            guard ContinuousClock.now < end else { throw MountTestError("never: \(what)") }
            usleep(1_000)
        }
    }

    /// What was written and cannot be put into the file below when the vault is locked is not lost without a word; and a file
    /// below that is damaged for the moment of the lock does not stay open.
    @Test func damageBelowWhileLocking() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        let path = mount.path("secret")
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
        let writer = try descriptor(path, O_RDWR)
        defer { close(writer) }
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: mount.below).first { !$0.hasPrefix(".") })
        let below = try descriptor(mount.below + "/" + name, O_RDWR)
        defer { close(below) }
        var block = [UInt8](repeating: 0, count: 4096)
        try #require(pread(below, &block, block.count, 0) == block.count)
        #expect(writeError(writer) == 0)
        let zeros = [UInt8](repeating: 0, count: block.count)
        try #require(pwrite(below, zeros, zeros.count, 0) == zeros.count)

        try mount.lock()
        try eventually("reads are refused") { readError(writer) != 0 }
        try #require(pwrite(below, block, block.count, 0) == block.count)
        #expect(readError(writer) == EACCES)
        // Whoever closes is told, which may be a child of this process that hears nothing of it.
        #expect(close(dup(writer)) == -1)
        #expect(close(dup(writer)) == -1)
        #expect(fsync(writer) == -1)
        #expect(fsync(writer) == 0)
        #expect(close(dup(writer)) == 0)
    }

    /// Whoever may read a file below can keep it to himself (flock(2)), but does not hold up the lock.
    @Test func filesBelowThatSomebodyKeeps() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        let path = mount.path("secret")
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
        let reader = try descriptor(path, O_RDONLY)
        defer { close(reader) }
        let free = Set(try FileManager.default.contentsOfDirectory(atPath: mount.below))
        var writers: [Int32] = []
        defer { writers.forEach { close($0) } }
        for number in 0..<3 {
            writers.append(try descriptor(mount.path("file\(number)"), O_RDWR | O_CREAT))
            #expect(writeError(writers[number]) == 0)
        }
        var kept: [Int32] = []
        defer { kept.forEach { close($0) } }
        for name in try FileManager.default.contentsOfDirectory(atPath: mount.below) where !free.contains(name) {
            kept.append(try descriptor(mount.below + "/" + name, O_RDONLY))
            try #require(flock(kept[kept.count - 1], LOCK_EX | LOCK_NB) == 0)
        }
        try mount.lock()
        let start = ContinuousClock.now
        try eventually("reads are refused") { readError(reader) == EACCES }
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func completeFilesCloseWhereverTheyAreOpen() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        let path = mount.path("secret")
        let data = [UInt8](repeating: 0x5A, count: 300_000)
        try Data(data).write(to: URL(fileURLWithPath: path))
        let (reader, writer) = (try descriptor(path, O_RDONLY), try descriptor(path, O_RDWR))
        defer {
            close(reader)
            close(writer)
        }
        // In the kernel's cache, and written but not flushed.
        #expect(try mount.contents("secret") == data)
        #expect(writeError(writer) == 0)

        try mount.lock()
        try eventually("reads are refused") { readError(reader) == EACCES }
        #expect(readError(writer) == EACCES)
        #expect(writeError(writer) == EACCES)
        // Every page, not the first alone.
        var page = [UInt8](repeating: 0, count: 4096)
        for place in stride(from: 0, to: data.count, by: 4096) {
            #expect(pread(reader, &page, page.count, place) == -1)
        }
        #expect(openError(path) == EACCES)
        #expect(openError(path, O_WRONLY) == EACCES)
        #expect(openError(path, O_WRONLY | O_TRUNC) == EACCES)
        #expect(truncate(path, 0) == -1)
        #expect(openError(mount.path("new"), O_CREAT | O_WRONLY) == EACCES)
        // Names, sizes and what is not data.
        #expect(
            try mount.shell("ls; stat -c %s secret; chmod 640 secret; mv secret moved; mv moved secret")
                == "secret\n300000\n")

        try mount.unlock()
        try eventually("reads go on") { readError(reader) == 0 }
        #expect(writeError(writer) == 0)
        #expect(try mount.contents("secret") == [UInt8(ascii: "x")] + data.dropFirst())
    }

    @Test func mappedPagesGo() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        try Data(repeating: 1, count: 100_000).write(to: URL(fileURLWithPath: mount.path("mapped")))
        // A program of its own, because touching the mapping ends it.
        let script = """
            import mmap, os, sys
            file = os.open("mapped", os.O_RDWR)
            memory = mmap.mmap(file, 100000)
            memory[50000] = 7
            print(memory[0], memory[99999], flush=True)
            sys.stdin.readline()
            print(memory[0], flush=True)
            """
        let worker = try Worker(["-c", "import os; os.chdir('\(mount.point)')\n\(script)"], command: "python3")
        #expect(worker.readLine() == "1 1")
        let reader = try descriptor(mount.path("mapped"), O_RDONLY)
        defer { close(reader) }
        try mount.lock()
        try eventually("reads are refused") { readError(reader) == EACCES }
        worker.cue()
        #expect(worker.readLine() == nil)
        #expect(worker.wait() != 0)
        try mount.unlock()
        try eventually("reads go on") { readError(reader) == 0 }
        // What was written to the mapping before the lock is there.
        #expect(try mount.contents("mapped")[50_000] == 7)
    }

    @Test func openFilesOfTheNextClassGoOn() throws {
        let mount = try MountUnderTest(["--class", "complete-unless-open"], hasPasscode: true)
        let path = mount.path("log")
        try Data("before\n".utf8).write(to: URL(fileURLWithPath: path))
        try Data("other\n".utf8).write(to: URL(fileURLWithPath: mount.path("closed")))
        #expect(try mount.contents("closed").count == 6)
        let open = try descriptor(path, O_RDWR | O_APPEND)
        try mount.lock()
        // What others have open is refused once the mount has heard of it.
        try eventually("it cannot be opened anew") { openError(path) == EACCES }
        #expect(openError(mount.path("closed")) == EACCES)
        #expect(write(open, "during\n", 7) == 7)
        #expect(readError(open) == 0)
        #expect(openError(path) == EACCES)
        // A file that is made now can be written until it is closed.
        let made = try descriptor(mount.path("made"), O_CREAT | O_WRONLY)
        #expect(write(made, "locked\n", 7) == 7)
        #expect(fsync(made) == 0)
        close(made)
        #expect(openError(mount.path("made")) == EACCES)
        close(open)
        #expect(openError(path) == EACCES)
        try mount.unlock()
        try eventually("all can be read") { openError(path) == 0 }
        #expect(try mount.contents("log") == Array("before\nduring\n".utf8))
        #expect(try mount.contents("made") == Array("locked\n".utf8))
        #expect(try mount.contents("closed") == Array("other\n".utf8))
    }

    @Test func otherClassesDoNotNotice() throws {
        let mount = try MountUnderTest(hasPasscode: true)
        try Data("always\n".utf8).write(to: URL(fileURLWithPath: mount.path("a")))
        let reader = try descriptor(mount.path("a"), O_RDWR)
        defer { close(reader) }
        try mount.lock()
        #expect(readError(reader) == 0 && writeError(reader) == 0)
        #expect(try mount.contents("a") == Array("xlways\n".utf8))
        try Data("new".utf8).write(to: URL(fileURLWithPath: mount.path("b")))
        #expect(try mount.contents("b").count == 3)
    }

    /// Writes go on while the vault is locked and unlocked; nothing that a program was told is written goes.
    @Test func locksInTheMiddle() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        let path = mount.path("growing")
        var expected: [UInt8] = []
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(6, soak: 60) {
            let descriptor = try descriptor(path, O_WRONLY | O_APPEND | O_CREAT)
            for _ in 0..<(1 + random.int(below: 30)) {
                let bytes = [UInt8](random.bytes(1 + random.int(below: 20_000)))
                #expect(write(descriptor, bytes, bytes.count) == bytes.count)
                expected += bytes
            }
            try mount.lock()
            try eventually("writes are refused") {
                let byte = [UInt8](random.bytes(1))
                guard write(descriptor, byte, 1) == 1 else { return errno == EACCES }
                expected += byte
                return false
            }
            close(descriptor)
            try mount.unlock()
            try eventually("the file opens") { openError(path) == 0 }
            #expect(try mount.contents("growing") == expected, "seed \(random.seed)")
        }
    }

    @Test func nothingIsMountedBeforeTheFirstUnlock() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        try mount.unmount()
        mount.stopDaemon()
        try mount.startDaemon()
        let outcome = try mount.keychain(["mount", mount.below, mount.point], status: 36)
        #expect(outcome.errors.contains("passcode"), "\(outcome.errors)")
        try mount.keychain(
            ["mount", mount.below, mount.point, "--passcode-fd", "3"], passcode: MountUnderTest.passcode)
        try mount.keychain(["unmount", mount.point])
    }

    /// Without a daemon the process in the background unlocks the vault with what was given to the one in front.
    @Test func withoutDaemon() throws {
        let mount = try MountUnderTest(nil, hasPasscode: true)
        mount.stopDaemon()
        mount.mode = "embedded"
        let arguments = ["mount", mount.below, mount.point, "--class", "complete"]
        try mount.keychain(arguments, status: 36)
        try mount.keychain(arguments + ["--passcode-fd", "3"], passcode: MountUnderTest.passcode)
        try mount.shell("echo data > file; cat file")
        try mount.keychain(["unmount", mount.point])
    }
}
