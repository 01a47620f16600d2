import Access
import Bytes
import CLibrary
import Connections

/// The retraction of a question to a person, when the daemon takes it back or is gone.
enum Retraction {
    /// Runs `body`, and cancels what it is given as soon as something comes on `socket`: while a question is open,
    /// that can only be its end.
    static func watching<Result>(_ socket: Int32, _ body: (Cancellation) -> Result) -> Result {
        let cancellation = Cancellation()
        // Canceled when there is nothing to watch for any more.
        let end = Cancellation()
        let started = ConnectionThread.start {
            var polled = [
                pollfd(fd: socket, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
                pollfd(fd: end.descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
            ]
            while poll(&polled, 2, -1) < 0, errno == EINTR {}
            if polled[1].revents == 0 { cancellation.cancel() }
            withExtendedLifetime(end) {}
        }
        // Without the thread the question stands until its deadline.
        defer { if started { end.cancel() } }
        return body(cancellation)
    }
}
