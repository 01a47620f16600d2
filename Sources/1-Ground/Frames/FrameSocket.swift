import CLibrary
import PlainBytes
import Synchronization

/// A failure of a connection.
package enum SocketError: Error, Equatable {
    /// The other side is gone.
    case closed
    /// It did not read or write in time.
    case timedOut
    case tooLong(size: Int)
    case malformed(FrameError)
    case system(errno: Int32)
}

/// One end of a connected stream socket, from which and to which frames go.
///
/// For one thread at a time, but for ``shutdown()``.
package final class FrameSocket {
    package let descriptor: Int32
    /// What came after the last frame; at most one read's worth, but for a frame that is under way.
    private let incoming = FrameBuffer()
    private let ownsDescriptor: Bool

    package init(_ descriptor: Int32, ownsDescriptor: Bool = true) {
        self.descriptor = descriptor
        self.ownsDescriptor = ownsDescriptor
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    /// Sends whole frames.
    ///
    /// - Parameter sent: How many bytes have gone out already, and, after an error, in all: for a caller that may start
    ///   over.
    package func send(_ buffer: FrameBuffer, within time: Duration, sent: inout Int) throws(SocketError) {
        let deadline = ContinuousClock.now + time
        while try !sendAvailable(buffer, &sent) {
            try wait(for: Int16(truncatingIfNeeded: POLLOUT), until: deadline)
        }
    }

    package func send(_ buffer: FrameBuffer, within time: Duration) throws(SocketError) {
        var sent = 0
        try send(buffer, within: time, sent: &sent)
    }

    /// Sends as much as the other end takes in without a wait.
    ///
    /// - Parameter sent: How many bytes have gone out.
    /// - Returns: Whether that is all.
    package func sendAvailable(_ buffer: FrameBuffer, _ sent: inout Int) throws(SocketError) -> Bool {
        let bytes = buffer.bytes
        while sent < bytes.count {
            let count = CLibrary.send(
                descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT))
            if count >= 0 {
                sent += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return false
            case EPIPE, ECONNRESET: throw .closed
            case let code: throw .system(errno: code)
            }
        }
        return true
    }

    /// Reads one frame into `frame`, without its length. It has at least a byte, which is its kind.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of a frame.
    ///   - first: How long to wait for its first byte; nil for as long as it takes.
    ///   - rest: How long the whole frame may take from then on, and one second more for each megabyte; without the
    ///     time that `admit` takes.
    ///   - admit: Called for a long frame before room is made for more of it, with how much there will be then.
    package func receiveFrame(
        into frame: FrameBuffer, limit: Int, first: Duration?, rest: Duration,
        admit: (Int) throws(SocketError) -> Void = { _ throws(SocketError) in }
    ) throws(SocketError) {
        frame.removeAll()
        if incoming.count == 0 { try fill(4096, until: first.map { ContinuousClock.now + $0 }) }
        let started = ContinuousClock.now
        while incoming.count < 4 { try fill(4096, until: started + rest) }
        let length = Int(UInt32(bigEndian: incoming.bytes.loadUnaligned(as: UInt32.self)))
        guard length >= 1 else { throw .malformed(FrameError("empty frame")) }
        guard length <= limit else { throw .tooLong(size: length) }
        var deadline = started + rest + .seconds(length >> 20)
        while incoming.count < 4 + length {
            let room = Self.room(for: 4 + length, beside: incoming.count)
            if length > Self.longFrame {
                let asked = ContinuousClock.now
                try admit(incoming.count + room)
                deadline += ContinuousClock.now - asked
            }
            try fill(room, until: deadline)
        }
        take(length, into: frame)
    }

    /// What ``receiveAvailableFrame(into:limit:admit:)`` found.
    package enum Reception {
        case frame
        /// The frame, or its rest, has not come.
        case incomplete
        /// There is no room for more of it.
        case refused
    }

    /// Reads one frame as ``receiveFrame(into:limit:first:rest:admit:)`` does if all of it has come. Waits for nothing.
    ///
    /// - Parameter admit: Whether a long frame may take so much room.
    package func receiveAvailableFrame(
        into frame: FrameBuffer, limit: Int, admit: (Int) -> Bool = { _ in true }
    ) throws(SocketError) -> Reception {
        frame.removeAll()
        while incoming.count < 4 {
            guard try fillAvailable(4096) else { return .incomplete }
        }
        let length = Int(UInt32(bigEndian: incoming.bytes.loadUnaligned(as: UInt32.self)))
        guard length >= 1 else { throw .malformed(FrameError("empty frame")) }
        guard length <= limit else { throw .tooLong(size: length) }
        while incoming.count < 4 + length {
            let room = Self.room(for: 4 + length, beside: incoming.count)
            guard length <= Self.longFrame || admit(incoming.count + room) else { return .refused }
            guard try fillAvailable(room) else { return .incomplete }
        }
        take(length, into: frame)
        return .frame
    }

    /// How many bytes of a frame have come, and how many it has in all, as far as that is known.
    package var underWay: (come: Int, all: Int) {
        guard incoming.count >= 4 else { return (incoming.count, 4) }
        return (incoming.count, 4 + Int(UInt32(bigEndian: incoming.bytes.loadUnaligned(as: UInt32.self))))
    }

    /// Room is made for what has come, not for what was announced.
    private static func room(for size: Int, beside come: Int) -> Int {
        min(size - come, max(longFrame, min(come, 1 << 18)))
    }

    private func take(_ length: Int, into frame: FrameBuffer) {
        frame.appendRaw(UnsafeRawBufferPointer(rebasing: incoming.bytes[4..<(4 + length)]))
        incoming.removeFirst(4 + length)
    }

    /// A frame beyond this many bytes has to be admitted.
    package static let longFrame = 1 << 16

    /// Whether nothing has come since the last frame and the other side is still there: what may be said
    /// of a connection at rest.
    package var isQuiet: Bool {
        guard incoming.count == 0 else { return false }
        var polled = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 0
    }

    /// Whether something has come after the last frame and was taken in already.
    package var hasInput: Bool { incoming.count > 0 }

    /// Waits until there is something to read, or the end; until `deadline`, or until the descriptor `interruption` is
    /// readable.
    ///
    /// - Returns: Whether there is something to read.
    package func waitForInput(
        until deadline: ContinuousClock.Instant, interruption: Int32
    ) throws(SocketError) -> Bool {
        while incoming.count == 0 {
            var polled = [descriptor, interruption].map {
                pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
            }
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else { return false }
            let count = poll(&polled, 2, Int32(clamping: min(left.rounded(.up), 1e9)))
            if count < 0, errno != EINTR { throw .system(errno: errno) }
            if count > 0 { return polled[0].revents != 0 }
        }
        return true
    }

    /// Ends both directions, which wakes threads that wait on them. Safe on any thread.
    package func shutdown() { CLibrary.shutdown(descriptor, Int32(truncatingIfNeeded: SHUT_RDWR)) }

    private func fill(_ room: Int, until deadline: ContinuousClock.Instant?) throws(SocketError) {
        while try !fillAvailable(room) { try wait(for: Int16(truncatingIfNeeded: POLLIN), until: deadline) }
    }

    /// - Returns: False if nothing has come.
    private func fillAvailable(_ room: Int) throws(SocketError) -> Bool {
        while true {
            let count = incoming.append(room: room) { space in
                recv(descriptor, space.baseAddress, space.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
            }
            if count > 0 { return true }
            if count == 0 { throw .closed }
            switch errno {
            case EINTR: continue
            case EAGAIN: return false
            case ECONNRESET: throw .closed
            case let code: throw .system(errno: code)
            }
        }
    }

    private func wait(for events: Int16, until deadline: ContinuousClock.Instant?) throws(SocketError) {
        if SocketWait.stayAwake(for: events, on: descriptor) { return }
        var polled = pollfd(fd: descriptor, events: events, revents: 0)
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                let left = (deadline - ContinuousClock.now) / .milliseconds(1)
                guard left > 0 else { throw .timedOut }
                milliseconds = Int32(clamping: min(left.rounded(.up), 1e9))
            }
            let count = poll(&polled, 1, milliseconds)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .system(errno: errno) }
        }
    }
}

/// Waits for what may come at once.
package enum SocketWait {
    /// Asks again and again for a moment, in case what is awaited is about to come.
    ///
    /// A thread that sleeps is woken late: on an idle processor of a virtual machine that takes as long as the
    /// whole of a lookup. Two threads of a process do it at a time, and let others run in between. A thread that has to
    /// wait then is on a processor that others need, and sleeps.
    ///
    /// - Returns: Whether it came.
    package static func stayAwake(for events: Int16, on descriptor: Int32) -> Bool {
        defer { awake.wrappingSubtract(1, ordering: .relaxed) }
        guard awake.wrappingAdd(1, ordering: .relaxed).newValue <= mostAwake else { return false }
        var now = ContinuousClock.now
        let end = now + moment
        while true {
            var polled = pollfd(fd: descriptor, events: events, revents: 0)
            if poll(&polled, 1, 0) > 0 { return true }
            sched_yield()
            let before = now
            now = .now
            guard now < end, now - before < longestTurn else { return false }
        }
    }

    /// How many threads are awake. More than two are slower on two processors: they keep those that work from running.
    private static let awake = Atomic(0)
    private static let mostAwake = 2
    /// Longer than the daemon takes for a lookup and a program for its next one, and too short to matter when
    /// nothing comes.
    private static let moment = Duration.microseconds(60)
    /// How long one round takes at the most if no other thread wants the processor.
    private static let longestTurn = Duration.microseconds(8)

    /// Waits a moment for something to read, or for the other end's going.
    ///
    /// - Parameters:
    ///   - other: Another descriptor that may be readable; -1 for none.
    ///   - milliseconds: How long, when staying awake was in vain.
    ///   - letsOthersRun: Whether more threads wait in this way than there are processors. One whose next request is
    ///     always there already would keep its processor until the kernel takes it away, which is milliseconds later.
    package static func hasCome(
        to descriptor: Int32, or other: Int32, within milliseconds: Int32, letsOthersRun: Bool
    ) -> Bool {
        let events = Int16(truncatingIfNeeded: POLLIN)
        if letsOthersRun { sched_yield() }
        if stayAwake(for: events, on: descriptor) { return true }
        // poll(2) leaves out negative descriptors.
        var polled = (
            pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: other, events: events, revents: 0)
        )
        return withUnsafeMutableBytes(of: &polled) {
            poll($0.assumingMemoryBound(to: pollfd.self).baseAddress, 2, milliseconds) > 0
        }
    }
}
