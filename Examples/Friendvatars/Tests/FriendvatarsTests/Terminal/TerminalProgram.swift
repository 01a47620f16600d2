import Foundation
import Glibc

/// The real terminal client, for a person with a home of their own.
struct TerminalProgram: Sendable {
    /// The data folder.
    let data: URL
    let home: URL

    struct Outcome: Sendable {
        /// The exit code, or 128 and the number of the signal.
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(data: URL, home: URL) throws {
        (self.data, self.home) = (data, home)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    }

    /// Runs a command to its end, without a terminal.
    ///
    /// - Parameters:
    ///   - input: Its standard input.
    ///   - password: What it can read from its descriptor 3.
    func run(_ arguments: [String], input: String = "", password: String? = nil) async throws -> Outcome {
        let folder = try TemporaryFolder()
        let files = ["in", "out", "errors", "password"].map {
            folder.url.appending(path: $0).path(percentEncoded: false)
        }
        try Data(input.utf8).write(to: URL(fileURLWithPath: files[0]))
        try Data((password ?? "").utf8).write(to: URL(fileURLWithPath: files[3]))
        let process = try start(arguments, environment: [:]) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, files[0], O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, files[1], O_WRONLY | O_CREAT, 0o600)
            posix_spawn_file_actions_addopen(&actions, 2, files[2], O_WRONLY | O_CREAT, 0o600)
            if password != nil { posix_spawn_file_actions_addopen(&actions, 3, files[3], O_RDONLY, 0) }
        }
        let status = await onThread { Self.wait(for: process) }
        return Outcome(
            status: status, output: try Data(contentsOf: URL(fileURLWithPath: files[1])),
            errors: try String(contentsOfFile: files[2], encoding: .utf8))
    }

    /// Starts a command as the leader of a session, on a terminal or without.
    func start(
        _ arguments: [String], environment: [String: String],
        _ describe: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        var variables = ["HOME": home.path(percentEncoded: false), "PATH": "/usr/bin:/bin"]
        variables["FRIENDVATARS_DATA"] = data.path(percentEncoded: false)
        variables["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        variables.merge(environment) { $1 }
        return try ProgramStart.start(
            "friendvatars-terminal", arguments, environment: variables, leadsSession: true, describe)
    }

    static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}

/// A terminal with a program on it.
final class PseudoTerminal: Sendable {
    private let own: Int32
    /// Kept open, so that the settings can be seen when the program is gone.
    private let other: Int32
    let process: pid_t

    init(_ program: TerminalProgram, _ arguments: [String], environment: [String: String] = [:]) throws {
        var ends: (Int32, Int32) = (-1, -1)
        var path = [CChar](repeating: 0, count: 64)
        guard openpty(&ends.0, &ends.1, &path, nil, nil) == 0 else {
            throw TerminalProgram.Failure(
                description: "there is no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        (own, other) = ends
        _ = fcntl(own, F_SETFD, FD_CLOEXEC)
        _ = fcntl(other, F_SETFD, FD_CLOEXEC)
        let name = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        process = try program.start(arguments, environment: ["TERM": "xterm"].merging(environment) { $1 }) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
        }
    }

    deinit {
        close(own)
        close(other)
    }

    /// Whether what is typed is shown.
    var isEchoing: Bool {
        var settings = termios()
        return tcgetattr(other, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(own, $0.baseAddress, $0.count) }
    }

    /// What was shown until `mark` was, or until the program ended if there is none, or two minutes were over.
    func shown(until mark: String? = nil) async -> String {
        await onThread { [own, process] in
            var (bytes, status) = (Data(), siginfo_t())
            let end = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < end {
                status.si_signo = 0
                waitid(P_PID, id_t(process), &status, WEXITED | WNOHANG | WNOWAIT)
                let isOver = status.si_signo != 0
                var entry = pollfd(fd: own, events: Int16(POLLIN), revents: 0)
                if poll(&entry, 1, isOver ? 0 : 50) > 0 {
                    var buffer = [UInt8](repeating: 0, count: 65_536)
                    let count = read(own, &buffer, buffer.count)
                    if count > 0 { bytes += buffer.prefix(count) }
                } else if isOver {
                    break
                }
                if let mark, String(decoding: bytes, as: UTF8.self).contains(mark) { break }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Waits for the program's end.
    func end() async -> Int32 { await onThread { [process] in TerminalProgram.wait(for: process) } }
}
