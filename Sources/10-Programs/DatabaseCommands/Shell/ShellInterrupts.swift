import CLibrary
import CommandKit
import Synchronization
import SystemLibraries
import SystemSQLite

/// Ctrl-C at the shell: ends the statement that runs, or drops the statement that is being typed.
final class ShellInterrupts: Sendable {
    /// Where the signal's handler writes. A handler can use only what never changes under it.
    private static let signaled = Atomic<Int32>(-1)

    private let running = Mutex<SQLInterrupter?>(nil)
    /// Readable after a Ctrl-C while no statement ran.
    let descriptor: Int32
    private let told: Int32

    /// Takes over SIGINT for the rest of the process.
    init() throws(Failure) {
        let (signals, prompts) = (try Self.openPipe(), try Self.openPipe())
        (descriptor, told) = (prompts.read, prompts.write)
        Self.signaled.store(signals.write, ordering: .sequentiallyConsistent)
        let source = signals.read
        let isStarted = DetachedThread.start("interrupts") { [self] in
            var byte: UInt8 = 0
            while read(source, &byte, 1) == 1 { interrupt() }
        }
        guard isStarted else { throw Failure.file("start", "a thread", errno) }
        signal(SIGINT) { _ in
            let code = errno
            var byte: UInt8 = 0
            _ = write(ShellInterrupts.signaled.load(ordering: .sequentiallyConsistent), &byte, 1)
            errno = code
        }
    }

    private static func openPipe() throws(Failure) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure.file("open", "a pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private func interrupt() {
        let interrupter = running.withLock { $0 }
        if let interrupter { return interrupter.interrupt() }
        var byte: UInt8 = 0
        _ = write(told, &byte, 1)
    }

    /// Runs `body`, whose statements Ctrl-C ends.
    func ending(_ interrupter: SQLInterrupter, _ body: () throws -> Void) rethrows {
        running.withLock { $0 = interrupter }
        defer { running.withLock { $0 = nil } }
        try body()
    }

    /// Forgets a Ctrl-C that ``descriptor`` told of.
    func forget() {
        var bytes = [UInt8](repeating: 0, count: 16)
        _ = read(descriptor, &bytes, bytes.count)
    }
}
