import Foundation
import Glibc
import TestSupport
import Testing

/// A vault with its daemon, a folder, and the place where `keychain mount` shows it. All of it goes with this object.
final class MountUnderTest {
    static let passcode = "swordfish"

    let folder: TemporaryFolder
    /// The folder with protected files.
    var below: String { folder.path(of: "below") }
    /// The folder with plain ones.
    var point: String { folder.path(of: "view") }
    private var daemon: Worker?
    private(set) var process: pid_t = 0
    private var watched: WatchedProcess?
    private var startedPeer: MountPeer?

    /// - Parameters:
    ///   - options: Of `keychain mount`; nil to mount nothing yet.
    ///   - hasPasscode: Whether the vault can be locked. It is unlocked then.
    init(_ options: [String]? = [], hasPasscode: Bool = false) throws {
        guard access("/dev/fuse", R_OK | W_OK) == 0 else { throw MountTestError("there is no /dev/fuse to mount with") }
        folder = try TemporaryFolder()
        for path in [below, point] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        try startDaemon()
        if hasPasscode {
            _ = try keychain(
                ["passcode", "set", "--new-passcode-fd", "3", "--memory", "8", "--passes", "1"], passcode: Self.passcode
            )
        }
        if let options { try mount(options) }
    }

    deinit {
        // The mount ends first: a program with open files in it may wait until the mount is gone.
        try? watched?.send(SIGKILL)
        startedPeer?.end()
        try? watched?.waitForEnd()
        // MNT_DETACH and UMOUNT_NOFOLLOW (sys/mount.h); a user without rights takes fusermount3.
        if umount2(point, 2 | 8) != 0, errno == EPERM {
            _ = try? ProgramStart(["fusermount3", "-u", "-q", "-z", point]).run()
        }
    }

    var environment: [String] {
        [
            "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=\(folder.path)", "KEYCHAIN_HOME=\(folder.path(of: "vault"))",
            "KEYCHAIN_SOCKET=\(folder.path(of: "run/socket"))", "LC_ALL=C.UTF-8",
            "KEYCHAIN_MODE=\(mode)",
        ]
    }

    /// Whether programs use the daemon or the vault itself.
    var mode = "daemon"

    static func program(_ name: String) -> String {
        URL(fileURLWithPath: Worker.executable).deletingLastPathComponent().appendingPathComponent(name).path
    }

    func startDaemon() throws {
        daemon = try Worker(
            [
                "--socket", folder.path(of: "run/socket"), "--home", folder.path(of: "vault"), "--entitlements",
                folder.path(of: "none.json"), "--no-lock-signals", "--log", "error",
            ], command: Worker.daemon)
        try eventually("the daemon listens") { access(folder.path(of: "run/socket"), F_OK) == 0 }
        try eventually("the daemon answers") { try start(["status"]).run().status == 0 }
    }

    func stopDaemon() {
        daemon?.terminate()
        daemon?.wait()
        daemon = nil
    }

    private func start(_ arguments: [String]) -> ProgramStart {
        ProgramStart([Self.program("keychain")] + arguments, environment: environment, leadsSession: true)
    }

    /// Runs `keychain`, which has to succeed unless another status is expected.
    ///
    /// - Parameter passcode: What its descriptor 3 gives.
    @discardableResult
    func keychain(_ arguments: [String], passcode: String? = nil, status: Int32 = 0) throws -> ProgramOutcome {
        var program = start(arguments)
        var ends: [Int32] = [-1, -1]
        if let passcode {
            try #require(pipe(&ends) == 0)
            let bytes = Array((passcode + "\n").utf8)
            _ = write(ends[1], bytes, bytes.count)
            close(ends[1])
            program.passed = ends[0]
        }
        defer { if ends[0] >= 0 { close(ends[0]) } }
        let outcome = try program.run()
        guard outcome.status == status else {
            throw MountTestError("keychain \(arguments) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome
    }

    func mount(_ options: [String] = []) throws {
        struct Answer: Decodable { var process: pid_t }
        let outcome = try keychain(["mount", below, point, "--json"] + options)
        process = try JSONDecoder().decode(Answer.self, from: outcome.output).process
        watched = try WatchedProcess(process)
        try TestWatcher.end(process)
    }

    func unmount() throws {
        try eventually("nobody uses the mount") {
            let outcome = try start(["unmount", point]).run()
            // A child that another test has just started may have, for a moment, what this process had open.
            if outcome.status == 1, outcome.errors.contains("--lazy") { return false }
            guard outcome.status == 0 else { throw MountTestError("not unmounted: \(outcome.errors)") }
            return true
        }
        try waitForEnd()
    }

    /// Ends the process that serves the mount with a signal, and waits.
    func end(_ signal: Int32) throws {
        try watched?.send(signal)
        try waitForEnd()
    }

    func waitForEnd() throws { try watched?.waitForEnd("the process of the mount ends") }

    func lock() throws { try keychain(["lock"]) }

    func unlock() throws { try keychain(["unlock", "--passcode-fd", "3"], passcode: Self.passcode) }

    /// A path in the mount.
    func path(_ name: String) -> String { "\(point)/\(name)" }

    /// Runs a shell in the mount, which has to succeed.
    @discardableResult
    func shell(_ script: String, in place: String? = nil) throws -> String {
        let program = ProgramStart(["/bin/sh", "-euc", script], environment: environment, folder: place ?? point)
        let outcome = try program.run()
        guard outcome.status == 0 else {
            throw MountTestError("\(script)\nended with \(outcome.status): \(outcome.text)\(outcome.errors)")
        }
        return outcome.text
    }

    // MARK: Through the peer

    func peer() throws -> MountPeer {
        if let startedPeer { return startedPeer }
        let peer = try MountPeer()
        startedPeer = peer
        return peer
    }

    /// Runs Python in the mount and returns what it prints.
    func python(_ script: String) throws -> String { try peer().run(script, in: point) }

    func open(_ name: String, _ flags: Int32) throws -> OpenFile { try peer().open(path(name), flags) }

    /// The error of opening a file of the mount, or 0.
    func openError(_ name: String, _ flags: Int32 = O_RDONLY) throws -> Int32 {
        try peer().openError(path(name), flags)
    }

    /// What is in a file of the mount.
    func contents(_ name: String) throws -> [UInt8] {
        try peer().contents(path(name), by: folder.path(of: "copy"))
    }

    /// Makes or replaces a file of the mount.
    func put(_ bytes: [UInt8], _ name: String) throws {
        let file = try open(name, O_WRONLY | O_CREAT | O_TRUNC)
        #expect(try file.write(bytes) == bytes.count)
        #expect(try file.close() == 0)
    }
}

struct MountTestError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
