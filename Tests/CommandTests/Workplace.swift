import Foundation
import Glibc
import Synchronization

/// A folder of its own for one test: the vault's home, the programs by their names, and scratch files.
final class Workplace: Sendable {
    let path: String
    var home: String { path + "/home" }

    init() throws {
        var template = Array("/tmp/keychain-command-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw WorkplaceError(operation: "mkdtemp", errno: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        try FileManager.default.createDirectory(atPath: path + "/bin", withIntermediateDirectories: false)
        let program = try Self.program()
        let daemon = URL(fileURLWithPath: program).deletingLastPathComponent().path + "/keychaind"
        for (name, program) in [("keychain", program), ("security", program), ("keychaind", daemon)] {
            try FileManager.default.createSymbolicLink(atPath: "\(path)/bin/\(name)", withDestinationPath: program)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The program is built into the same folder as the test bundle, which is this process's executable.
    private static func program() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let candidates = [own, CommandLine.arguments.first(where: { $0.hasSuffix(".xctest") }) ?? own]
            .map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/keychain" }
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw WorkplaceError(operation: "find \(candidates)", errno: ENOENT)
        }
        return found
    }

    /// What a child sees: no terminal settings or vault of whoever runs the tests.
    var environment: [String] {
        ["PATH=\(path)/bin:/usr/bin:/bin", "HOME=\(path)", "KEYCHAIN_HOME=\(home)", "LC_ALL=C.UTF-8"]
    }
}

struct WorkplaceError: Error {
    var operation: String
    var errno: Int32
}

/// How a child ended and what it wrote.
struct Outcome {
    var output: Data
    var errors: String
    /// The exit status, or 128 and the signal's number, as a shell has it.
    var status: Int32

    var text: String { String(decoding: output, as: UTF8.self) }
}

/// Descriptors that are made and given away while another child starts would leak into it.
let spawning = Mutex(())

extension Workplace {
    /// Runs `command` in the folder with a POSIX shell and waits for its end.
    func shell(_ command: String) throws -> Outcome {
        try run(["/bin/sh", "-c", "cd \"$HOME\"\n" + command])
    }

    /// Runs a program with `input` as its standard input, to its end.
    func run(_ arguments: [String], input: Data = Data(), output: Int32? = nil) throws -> Outcome {
        let scratch = "\(path)/\(UUID().uuidString)"
        try input.write(to: URL(fileURLWithPath: scratch + ".in"))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, scratch + ".in", O_RDONLY, 0)
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, scratch + ".out", O_WRONLY | O_CREAT, 0o600)
        }
        posix_spawn_file_actions_addopen(&actions, 2, scratch + ".err", O_WRONLY | O_CREAT, 0o600)
        let process = try spawning.withLock { _ in try spawn(arguments, &actions, newSession: true) }
        let status = try Self.wait(process)
        let written = try output == nil ? Data(contentsOf: URL(fileURLWithPath: scratch + ".out")) : Data()
        let errors = try Data(contentsOf: URL(fileURLWithPath: scratch + ".err"))
        for suffix in [".in", ".out", ".err"] { unlink(scratch + suffix) }
        return Outcome(output: written, errors: String(decoding: errors, as: UTF8.self), status: status)
    }

    /// Starts a child. In a new session it has no terminal but one that it opens first.
    func spawn(
        _ arguments: [String], _ actions: inout posix_spawn_file_actions_t, newSession: Bool
    ) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID (spawn.h), 0x80, and POSIX_SPAWN_SETSIGDEF and SETSIGMASK.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16((newSession ? 0x80 : 0) | 0x04 | 0x08))
        var arguments = arguments.map { strdup($0) } + [nil]
        var environment = environment.map { strdup($0) } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        var process: pid_t = 0
        let program = arguments.first.flatMap { $0 }.map { String(cString: $0) } ?? ""
        let resolved = program.contains("/") ? program : "\(path)/bin/\(program)"
        let code = posix_spawn(&process, resolved, &actions, &attributes, &arguments, &environment)
        guard code == 0 else { throw WorkplaceError(operation: "start \(resolved)", errno: code) }
        return process
    }

    static func wait(_ process: pid_t) throws -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw WorkplaceError(operation: "waitpid", errno: errno) }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}
