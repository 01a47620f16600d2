import Foundation
import Glibc
import TestSupport
import Testing

/// What the vault's lock does to files that are open, mapped and cached.
///
/// The mount hears of a lock a moment after the command has returned.
@Suite struct LockTests {
    /// What was written and cannot be put into the file below when the vault is locked is not lost without a word; and
    /// a file below that is damaged for the moment of the lock does not stay open.
    @Test func damageBelowWhileLocking() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        try mount.put([1, 2, 3], "secret")
        let writer = try mount.open("secret", O_RDWR)
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: mount.below).first { !$0.hasPrefix(".") })
        let below = try FileHandle(forUpdating: URL(fileURLWithPath: mount.below + "/" + name))
        let block = try #require(try below.read(upToCount: 4096))
        try #require(block.count == 4096)
        #expect(try writer.writeError() == 0)
        try below.seek(toOffset: 0)
        try below.write(contentsOf: Data(count: block.count))

        try mount.lock()
        try eventually("reads are refused") { try writer.readError() != 0 }
        try below.seek(toOffset: 0)
        try below.write(contentsOf: block)
        #expect(try writer.readError() == EACCES)
        // Each of those who close is told.
        #expect(try writer.closeCopy() != 0)
        #expect(try writer.closeCopy() != 0)
        #expect(try writer.synchronize() != 0)
        #expect(try writer.synchronize() == 0)
        #expect(try writer.closeCopy() == 0)
    }

    /// A program that may read a file below can lock it (flock(2)). That does not hold up the lock of the vault.
    @Test func filesBelowThatSomebodyKeeps() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        try mount.put([1, 2, 3], "secret")
        let reader = try mount.open("secret", O_RDONLY)
        let free = Set(try FileManager.default.contentsOfDirectory(atPath: mount.below))
        var writers: [OpenFile] = []
        for number in 0..<3 {
            writers.append(try mount.open("file\(number)", O_RDWR | O_CREAT))
            #expect(try writers[number].writeError() == 0)
        }
        var kept: [FileHandle] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: mount.below) where !free.contains(name) {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: mount.below + "/" + name))
            kept.append(file)
            try #require(flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
        }
        try #require(kept.count == 3)
        try writers[0].beginSynchronizing()
        try mount.lock()
        try eventually("reads are refused") { try reader.readError() == EACCES }
        // The lock did not wait until writing to the others was given up.
        #expect(try writers[0].isSynchronizing())
        withExtendedLifetime((mount, kept)) {}
    }

    @Test func completeFilesCloseWhereverTheyAreOpen() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        let data = [UInt8](repeating: 0x5A, count: 300_000)
        try mount.put(data, "secret")
        let (reader, writer) = (try mount.open("secret", O_RDONLY), try mount.open("secret", O_RDWR))
        // In the kernel's cache, and written but not flushed.
        #expect(try mount.contents("secret") == data)
        #expect(try writer.writeError() == 0)

        try mount.lock()
        try eventually("reads are refused") { try reader.readError() == EACCES }
        #expect(try writer.readError() == EACCES)
        #expect(try writer.writeError() == EACCES)
        // Every page, not the first alone.
        for place in stride(from: 0, to: data.count, by: 4096) {
            #expect(try reader.readError(at: place) != 0)
        }
        #expect(try mount.openError("secret") == EACCES)
        #expect(try mount.openError("secret", O_WRONLY) == EACCES)
        #expect(try mount.openError("secret", O_WRONLY | O_TRUNC) == EACCES)
        #expect(truncate(mount.path("secret"), 0) == -1)
        #expect(try mount.openError("new", O_CREAT | O_WRONLY) == EACCES)
        // Names, sizes and what is not data.
        #expect(
            try mount.shell("ls; stat -c %s secret; chmod 640 secret; mv secret moved; mv moved secret")
                == "secret\n300000\n")

        try mount.unlock()
        try eventually("reads go on") { try reader.readError() == 0 }
        #expect(try writer.writeError() == 0)
        #expect(try mount.contents("secret") == [UInt8(ascii: "x")] + data.dropFirst())
    }

    @Test func mappedPagesGo() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        try mount.put([UInt8](repeating: 1, count: 100_000), "mapped")
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
        let reader = try mount.open("mapped", O_RDONLY)
        try mount.lock()
        try eventually("reads are refused") { try reader.readError() == EACCES }
        worker.cue()
        #expect(worker.readLine() == nil)
        #expect(worker.wait() != 0)
        try mount.unlock()
        try eventually("reads go on") { try reader.readError() == 0 }
        // What was written to the mapping before the lock is there.
        #expect(try mount.contents("mapped")[50_000] == 7)
    }

    @Test func openFilesOfTheNextClassGoOn() throws {
        let mount = try MountUnderTest(["--class", "complete-unless-open"], hasPasscode: true)
        try mount.put(Array("before\n".utf8), "log")
        try mount.put(Array("other\n".utf8), "closed")
        #expect(try mount.contents("closed").count == 6)
        let open = try mount.open("log", O_RDWR | O_APPEND)
        try mount.lock()
        // What others have open is refused once the mount has heard of it.
        try eventually("it cannot be opened anew") { try mount.openError("log") == EACCES }
        #expect(try mount.openError("closed") == EACCES)
        #expect(try open.write(Array("during\n".utf8)) == 7)
        #expect(try open.readError() == 0)
        #expect(try mount.openError("log") == EACCES)
        // A file that is made now can be written until it is closed.
        let made = try mount.open("made", O_CREAT | O_WRONLY)
        #expect(try made.write(Array("locked\n".utf8)) == 7)
        #expect(try made.synchronize() == 0)
        try made.close()
        #expect(try mount.openError("made") == EACCES)
        try open.close()
        #expect(try mount.openError("log") == EACCES)
        try mount.unlock()
        try eventually("all can be read") { try mount.openError("log") == 0 }
        #expect(try mount.contents("log") == Array("before\nduring\n".utf8))
        #expect(try mount.contents("made") == Array("locked\n".utf8))
        #expect(try mount.contents("closed") == Array("other\n".utf8))
    }

    @Test func otherClassesDoNotNotice() throws {
        let mount = try MountUnderTest(hasPasscode: true)
        try mount.put(Array("always\n".utf8), "a")
        let reader = try mount.open("a", O_RDWR)
        try mount.lock()
        #expect(try reader.readError() == 0 && reader.writeError() == 0)
        #expect(try mount.contents("a") == Array("xlways\n".utf8))
        try mount.put(Array("new".utf8), "b")
        #expect(try mount.contents("b").count == 3)
    }

    /// Writes go on while the vault is locked and unlocked; nothing that a program was told is written goes.
    @Test func locksInTheMiddle() throws {
        let mount = try MountUnderTest(["--class", "complete"], hasPasscode: true)
        var expected: [UInt8] = []
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(6, soak: 60) {
            let file = try mount.open("growing", O_WRONLY | O_APPEND | O_CREAT)
            for _ in 0..<(1 + random.int(below: 30)) {
                let bytes = [UInt8](random.bytes(1 + random.int(below: 20_000)))
                #expect(try file.write(bytes) == bytes.count)
                expected += bytes
            }
            try mount.lock()
            try eventually("writes are refused") {
                let byte = [UInt8](random.bytes(1))
                let written = try file.write(byte)
                guard written == 1 else { return written == Int(-EACCES) }
                expected += byte
                return false
            }
            try file.close()
            try mount.unlock()
            try eventually("the file opens") { try mount.openError("growing") == 0 }
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
