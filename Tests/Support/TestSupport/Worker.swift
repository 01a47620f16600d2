import Foundation
import Glibc
import Testing

/// A running `VaultWorker`: another process that works on a vault and reports over a socket.
package final class Worker {
    package let process: pid_t
    /// This process's end of a pair of sockets. The other end is the worker's standard input and output.
    private let socket: Int32
    private var buffered: [UInt8] = []
    private var exitStatus: Int32?

    /// Starts `VaultWorker`, or `command` instead, with `arguments`.
    ///
    /// - Parameter passed: A descriptor that becomes descriptor 3 of the worker.
    package init(_ arguments: [String], command: String = Worker.executable, passing passed: Int32? = nil) throws {
        // No other child may inherit either end: it would keep the worker's end open after the worker's death.
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw WorkerError.noSocket(errno: errno) }
        defer { close(ends[1]) }
        do {
            var program = ProgramStart([command] + arguments)
            program.passed = passed
            process = try program.start { actions in
                posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
                posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
            }
        } catch {
            close(ends[0])
            throw error
        }
        socket = ends[0]
    }

    deinit {
        kill()
        wait()
        close(socket)
    }

    /// The program, which is built beside the test bundle.
    package static let executable: String = {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let path = String(decoding: buffer[..<count], as: UTF8.self)
        return URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("VaultWorker").path
    }()

    package var memory: ProcessMemory { ProcessMemory(of: process) }

    /// Writes `bytes` to the worker's standard input.
    package func send(_ bytes: [UInt8]) {
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Ends the worker's standard input.
    package func finishInput() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Lets a worker that waits for a line continue.
    package func cue() {
        send([0x0A])
    }

    /// Returns the next line of the worker's output; nil after its end.
    ///
    /// - Parameter seconds: The time after which the worker is killed and the test fails, as in all methods that read.
    package func readLine(
        within seconds: Int = Patience.seconds, sourceLocation: SourceLocation = #_sourceLocation
    ) -> String? {
        let deadline = Deadline(seconds, sourceLocation)
        while true {
            if let end = buffered.firstIndex(of: 0x0A) {
                defer { buffered.removeSubrange(...end) }
                return String(decoding: buffered[..<end], as: UTF8.self)
            }
            guard fill(deadline) else { return nil }
        }
    }

    /// Waits for `count` bytes of output without consuming them.
    package func waitForOutput(
        _ count: Int = 1, within seconds: Int = Patience.seconds, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let deadline = Deadline(seconds, sourceLocation)
        while buffered.count < count, fill(deadline) {}
    }

    /// Returns the rest of the worker's output.
    package func readToEnd(
        within seconds: Int = Patience.seconds, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [UInt8] {
        let deadline = Deadline(seconds, sourceLocation)
        while fill(deadline) {}
        defer { buffered = [] }
        return buffered
    }

    /// Returns the rest of the worker's output, as lines.
    package func remainingLines(
        within seconds: Int = Patience.seconds, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [String] {
        let bytes = readToEnd(within: seconds, sourceLocation: sourceLocation)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    package func kill() {
        if exitStatus == nil { Glibc.kill(process, SIGKILL) }
    }

    /// Asks the process to end (SIGTERM).
    package func terminate() {
        if exitStatus == nil { Glibc.kill(process, SIGTERM) }
    }

    /// Waits until the process has ended.
    ///
    /// - Parameter seconds: The time after which the process is killed and the test fails.
    /// - Returns: The exit code, or 128 plus the number of the signal.
    @discardableResult package func wait(
        within seconds: Int = Patience.seconds, sourceLocation: SourceLocation = #_sourceLocation
    ) -> Int32 {
        if let exitStatus { return exitStatus }
        let code = ProgramStart.wait(for: process, within: seconds, sourceLocation: sourceLocation)
        exitStatus = code
        return code
    }

    /// Returns the result of ``wait()`` without waiting; nil while the process runs.
    package func endedWith() -> Int32? {
        var info = siginfo_t()
        // WEXITED, WNOHANG and WNOWAIT (waitid(2)): only asks whether the process has ended.
        guard exitStatus == nil, waitid(P_PID, id_t(process), &info, 0x4 | 0x1 | 0x0100_0000) == 0 else {
            return exitStatus
        }
        return info.si_signo == 0 ? nil : wait()
    }

    /// The end of a wait, and the place in the test that fails then.
    private struct Deadline {
        let seconds: Int
        let end: ContinuousClock.Instant
        let sourceLocation: SourceLocation

        init(_ seconds: Int, _ sourceLocation: SourceLocation) {
            (self.seconds, end, self.sourceLocation) = (seconds, .now + .seconds(seconds), sourceLocation)
        }

        /// In milliseconds, for poll(2).
        var left: Int32 { Int32(max(0, (end - .now) / .milliseconds(1))) }
    }

    private func fill(_ deadline: Deadline) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, deadline.left)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else {
                let what = "more output of \(ProgramStart.name(of: process))"
                _ = NeverHappened(what, in: deadline.seconds).record(deadline.sourceLocation)
                kill()
                return false
            }
            let count = read(socket, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            buffered.append(contentsOf: chunk[..<count])
            return true
        }
    }
}

package enum WorkerError: Error {
    case noSocket(errno: Int32)
}
