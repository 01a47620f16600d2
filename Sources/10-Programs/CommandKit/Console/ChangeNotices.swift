import Bytes
import CLibrary

/// Lets a thread wait for what a stream tells, such as changes of a vault.
package final class ChangeNotices: Sendable {
    /// Readable when something changed, and at its end when nothing more will be told.
    package let descriptor: Int32
    private let writer: Int32

    package init<Change: Sendable>(_ changes: AsyncStream<Change>) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .system("no pipe can be made: end other programs or raise `ulimit -n`", errno)
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writer) = (ends[0], ends[1])
        let writer = writer
        Task.detached {
            for await _ in changes {
                var byte: UInt8 = 0
                // A full pipe has a notice already.
                _ = write(writer, &byte, 1)
            }
        }
    }

    /// Waits until something changed.
    ///
    /// - Parameter milliseconds: How long to wait at most; -1 for no limit.
    package func wait(milliseconds: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return }
        drain()
    }

    /// Takes the notices that are there.
    package func drain() {
        var buffer = [UInt8](repeating: 0, count: 512)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }
}
