import Foundation
import Glibc
import SystemLibraries

/// Ends the children of this process and removes its folders when this process ends, also when it is killed.
///
/// Another process (`Scripts/check/run-tests.py --watch`), which holds the other end of a pipe, does this work. If the
/// same script runs the tests, it does this for all their processes and says so in the environment.
package enum TestWatcher {
    /// The end of the pipe for writing; -1 if no watcher is needed.
    private static let started = Result { try start() }

    /// Makes a process end when this one ends.
    package static func end(_ process: pid_t) throws { try say("process \(process)") }

    /// Makes a folder be unmounted and removed when this process ends.
    package static func remove(folder: String) throws { try say("folder \(folder)") }

    private static func say(_ line: String) throws {
        let pipe = try started.get()
        guard pipe >= 0 else { return }
        // Shorter than PIPE_BUF, so that lines of several threads do not mix.
        let bytes = Array((line + "\n").utf8)
        guard write(pipe, bytes, bytes.count) == bytes.count else {
            throw ProgramError(program: "the watcher", errno: errno)
        }
    }

    private static func start() throws -> Int32 {
        guard ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SUPERVISED"] == nil else { return -1 }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ProgramError(program: "pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let script = Repository.file("Scripts/check/run-tests.py").path
        // A new session: an interrupt at the terminal must end only the tests, not the process that cleans up after
        // them.
        let program = ProgramStart(["python3", "-IS", script, "--watch"], folder: "/", leadsSession: true)
        do {
            _ = try program.spawn { actions in
                posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
                for descriptor in Int32(1)...2 {
                    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
                }
            }
        } catch {
            close(ends[1])
            throw error
        }
        return ends[1]
    }
}
