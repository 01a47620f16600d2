import Foundation
import Glibc
import TestSupport
import Testing

/// A program that runs beside a test and ends with this object.
final class Child {
    private let process: pid_t
    private var exitStatus: Int32?

    /// - Parameter output: Where its output goes; nowhere if nil.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:], output: Pipe? = nil) throws {
        let variables = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"]
            .merging(environment) { $1 }
        let isVerbose = ProcessInfo.processInfo.environment["PRESENCE_TESTS_VERBOSE"] != nil
        let start = ProgramStart([program] + arguments, environment: variables.map { "\($0.key)=\($0.value)" })
        process = try start.start { actions in
            for descriptor in Int32(0)...(isVerbose ? 1 : 2) {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
            guard let output else { return }
            posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        }
        try output?.fileHandleForWriting.close()
    }

    /// Waits until it is gone.
    ///
    /// - Returns: The exit code, or 128 and the number of the signal.
    @discardableResult func wait() -> Int32 {
        let status = exitStatus ?? ProgramStart.wait(for: process)
        exitStatus = status
        return status
    }

    /// Kills it, from whichever thread.
    var killer: @Sendable () -> Void {
        let process = process
        return { kill(process, SIGKILL) }
    }

    func end() {
        guard exitStatus == nil else { return }
        kill(process, SIGKILL)
        wait()
    }

    deinit {
        end()
    }
}

/// Writes a shell script from another process: one that this process has open, or a child that it starts at the
/// same moment, cannot be run (ETXTBSY).
func writeScript(_ text: String, to path: String) throws {
    let writer = try Child(
        "/bin/sh", ["-c", #"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 700 "$0""#, path, text])
    guard writer.wait() == 0 else { throw NothingHappened(expected: "the script \(path)") }
}

/// Something that tests need is not installed.
struct MissingPart: Error, CustomStringConvertible {
    var part: String
    init(_ part: String) { self.part = part }
    var description: String { "\(part) is missing: run Scripts/install/setup.sh --tests" }
}

/// A wait that was in vain.
struct NothingHappened: Error {
    var expected: String
}
