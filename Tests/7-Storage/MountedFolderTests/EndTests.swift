import Foundation
import Glibc
import TestSupport
import Testing

/// How a mount ends, and what is below afterwards.
@Suite struct EndTests {
    private func write(
        _ mount: MountUnderTest, _ name: String, _ bytes: [UInt8], synchronizing: Bool = false
    ) throws -> OpenFile {
        let file = try mount.open(name, O_RDWR | O_CREAT)
        #expect(try file.write(bytes) == bytes.count)
        if synchronizing { #expect(try file.synchronize() == 0) }
        return file
    }

    /// What was closed or flushed outlives the process, whenever it is killed, and nothing else is left behind.
    @Test func killed() throws {
        let mount = try MountUnderTest()
        var random = SeededGenerator()
        var expected: [String: [UInt8]] = [:]
        for round in 0..<TestScale.count(4, soak: 200) {
            var open: [OpenFile] = []
            for number in 0..<5 {
                let name = "\(round)-\(number)"
                let bytes = [UInt8](random.bytes(random.int(below: 200_000)))
                let file = try write(mount, name, bytes, synchronizing: number > 2)
                expected[name] = bytes
                if number > 2 { open.append(file) } else { #expect(try file.close() == 0) }
            }
            // In the midst of a write that nobody was promised.
            let path = mount.path("growing")
            let worker = try Worker(
                [
                    "-c",
                    """
                    f = open('\(path)', 'ab', buffering=0)
                    print(1, flush=True)
                    try:
                        while True: f.write(b'x' * 100000)
                    except OSError: pass
                    """,
                ],
                command: "python3")
            _ = worker.readLine()
            usleep(UInt32(random.int(below: 50_000)))
            try mount.end(SIGKILL)
            worker.kill()
            worker.wait()
            for file in open { try file.close() }
            // What was mounted is still there without its process, and goes when it is mounted anew.
            try mount.mount()
            for (name, bytes) in expected { #expect(try mount.contents(name) == bytes, "\(name), seed \(random.seed)") }
            #expect(try mount.contents("growing").allSatisfy { $0 == UInt8(ascii: "x") })
            try mount.shell("rm growing")
        }
        let count = try mount.shell("ls -A | wc -l").trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(count == "\(expected.count)")
        try mount.unmount()
        #expect(try FileManager.default.contentsOfDirectory(atPath: mount.below).count == expected.count + 2)
        try mount.keychain(["file", "verify", mount.below])
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func signalled(_ signal: Int32) throws {
        let mount = try MountUnderTest()
        let bytes = [UInt8](repeating: 3, count: 50_000)
        // Open, written, and not flushed.
        let file = try write(mount, "open", bytes)
        try mount.end(signal)
        try file.close()
        #expect(try mount.shell("ls -A", in: mount.point) == "")
        try mount.mount()
        #expect(try mount.contents("open") == bytes)
    }

    @Test func unmounted() throws {
        let mount = try MountUnderTest()
        let file = try write(mount, "open", [1, 2, 3])
        let busy = try mount.keychain(["unmount", mount.point], status: 1)
        #expect(busy.errors.contains("--lazy"), "\(busy.errors)")
        try mount.keychain(["unmount", "--lazy", mount.point])
        #expect(try file.write([4]) == 1)
        #expect(try file.close() == 0)
        try mount.waitForEnd()
        try mount.keychain(["unmount", mount.point], status: 44)
        try mount.mount(["--read-only"])
        #expect(try mount.contents("open") == [1, 2, 3, 4])
        #expect(try mount.openError("open", O_WRONLY) == EROFS)
        #expect(mkdir(mount.path("new"), 0o700) == -1 && errno == EROFS)
    }

    /// In the foreground, as systemd runs it.
    @Test func foreground() throws {
        let mount = try MountUnderTest(nil)
        let program = ["env"] + mount.environment + [MountUnderTest.program("keychain"), "mount", "--foreground"]
        let worker = try Worker(Array(program.dropFirst()) + ["--json", mount.below, mount.point], command: "env")
        #expect(worker.readLine()?.contains(mount.below) == true)
        try mount.shell("echo data > file")
        worker.terminate()
        #expect(worker.wait() == 0)
        #expect(try mount.shell("ls -A", in: mount.point) == "")
    }

    /// Nothing secret stands in its arguments, and it holds no terminal and no folder.
    @Test func background() throws {
        let mount = try MountUnderTest(hasPasscode: true)
        let process = "/proc/\(mount.process)"
        #expect(
            try String(contentsOfFile: "\(process)/limits", encoding: .utf8).contains("Max core file size        1 "))
        #expect(try !String(contentsOfFile: "\(process)/cmdline", encoding: .utf8).contains(MountUnderTest.passcode))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/cwd") == "/")
        for descriptor in 0...2 {
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\(descriptor)") == "/dev/null")
        }
    }

    /// A user without rights mounts by fusermount3. Other processes of that user do not get at the memory of the
    /// mount's, and files whose mode forbids reading them go on being written.
    @Test func withoutRights() throws {
        let folder = try TemporaryFolder()
        let script = """
            export KEYCHAIN_HOME=$PWD/vault HOME=$PWD KEYCHAIN_MODE=embedded
            process=$(./keychain mount --json below view | sed 's/.*"process"://; s/}//')
            trap './keychain unmount view' EXIT
            cd view; echo a > a; chmod 200 a; echo b >> a; chmod 400 a; test "$(cat a)" = "$(printf 'a\\nb')"
            test "$(stat -c %s a)" = 4; chmod 000 a; test "$(stat -c %s a)" = 4
            (umask 777; echo locked > c); test "$(stat -c %s.%a c)" = 7.0
            ! cat c 2>/dev/null
            ! cat /proc/$process/maps >/dev/null 2>&1
            cd ..
            """
        // By other processes: what this one has open for writing, a child that is started meanwhile keeps open.
        let program = MountUnderTest.program("keychain")
        let setup = "cp \(program) keychain; mkdir below view; chmod 755 ."
        let user = geteuid() == 0 ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
        let steps = [
            ["/bin/sh", "-euc", setup + (geteuid() == 0 ? "; chown -R 65534:65534 ." : "")],
            user + ["/bin/sh", "-euc", script],
        ]
        for step in steps {
            let outcome = try ProgramStart(step, folder: folder.path).run()
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
    }
}
