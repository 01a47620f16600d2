import CLibrary
import CommandKit
import Connections
import StatusCodes
import Synchronization
import SystemLibraries

/// The command that an agent runs for.
final class AgentChild: Sendable {
    private let process: pid_t
    private let ended = Mutex<Int32?>(nil)

    /// Starts `command` with `socket` as its SSH_AUTH_SOCK.
    init(_ command: [String], socket: String) throws {
        setenv("SSH_AUTH_SOCK", socket, 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        // The child handles the signals as usual that this program handles or ignores.
        resetSignals([SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP], in: &attributes)
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, command.first ?? "", nil, &attributes, &arguments, environ)
        guard code == 0 else {
            // 127 and 126 are what a shell says (POSIX, 2.8.2).
            throw Failure(
                status: errSecIO, exitCode: code == ENOENT ? 127 : 126,
                "'\((command.first ?? "").escapedForTerminal)' cannot be run (\(String(cString: strerror(code)))): "
                    + "name a program after --")
        }
        self.process = process
    }

    /// Waits for the end of the child on a thread of its own, and then wakes ``EndingSignals``.
    ///
    /// - Returns: False if no thread can be started.
    func watch() -> Bool {
        ConnectionThread.start { [self] in
            var status: Int32 = 0
            _ = SystemCall.retryOnInterrupt { waitpid(process, &status, 0) }
            let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
            ended.withLock { $0 = code }
            EndingSignals.wake()
        }
    }

    /// The exit status, or 128 plus the number of a signal, as in a shell; nil while the child runs.
    var status: Int32? { ended.withLock { $0 } }

    func send(_ signal: Int32) {
        ended.withLock { if $0 == nil { _ = kill(process, signal) } }
    }
}
