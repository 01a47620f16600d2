import Bytes
import CLibrary
import Synchronization

/// The descriptor that the handler writes a signal's number to; -1 while nobody waits.
private let signalWriter = Atomic<Int32>(-1)

/// At file scope because C calls it, on any thread.
private func noteSignal(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalWriter.load(ordering: .relaxed), &byte, 1)
    errno = before
}

/// The signals and other events that end a command which runs until it is stopped, in the order in which they come.
package struct EndingSignals: ~Copyable {
    private static let ending = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]
    private let reader: Int32
    private let writer: Int32

    /// Returns nil if the system has no descriptor left.
    package init?() {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(clamping: kind), 0, &ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
        signalWriter.store(writer, ordering: .relaxed)
        for number in Self.ending {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = noteSignal
            sigaction(number, &action, nil)
        }
    }

    /// Has ``next()`` return 0, which is not a signal. Any thread may call this.
    package static func wake() { noteSignal(0) }

    /// Waits for the next signal, or for ``wake()``, and returns its number or 0.
    package borrowing func next() -> Int32 {
        var byte: UInt8 = 0
        let reader = reader
        _ = SystemCall.retryOnInterrupt { read(reader, &byte, 1) }
        return Int32(byte)
    }

    deinit {
        for number in Self.ending { signal(number, SIG_DFL) }
        // A handler that still runs must not write to the next file that gets this number.
        signalWriter.store(-1, ordering: .relaxed)
        close(reader)
        close(writer)
    }
}
