import Glibc
import Synchronization

/// Where the handler says that a signal came; -1 while nobody waits.
private let agentWriter = Atomic<Int32>(-1)

/// At file scope because C calls it on whatever thread the signal picks.
private func noteAgentSignal(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(agentWriter.load(ordering: .relaxed), &byte, 1)
    errno = before
}

/// The signals that end an agent, and whatever else does, in the order in which they come.
struct AgentSignals: ~Copyable {
    private static let ending = [SIGTERM, SIGINT, SIGHUP]
    private let reader: Int32
    private let writer: Int32

    /// Nil when the system has no descriptor left.
    init?() {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
        agentWriter.store(writer, ordering: .relaxed)
        for number in Self.ending {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = noteAgentSignal
            sigaction(number, &action, nil)
        }
    }

    /// Says something that ``next()`` gives, from any thread: zero, which is no signal.
    static func wake() { noteAgentSignal(0) }

    /// The next signal, or zero.
    borrowing func next() -> Int32 {
        var byte: UInt8 = 0
        while read(reader, &byte, 1) < 0, errno == EINTR {}
        return Int32(byte)
    }

    deinit {
        for number in Self.ending { signal(number, SIG_DFL) }
        // A handler that runs still must not write to whatever is opened next.
        agentWriter.store(-1, ordering: .relaxed)
        close(reader)
        close(writer)
    }
}
