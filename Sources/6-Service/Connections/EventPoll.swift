import Bytes
import CEpoll
import CLibrary
import Frames

/// Tells which of many descriptors are ready (epoll(7)).
final class EventPoll: Sendable {
    private let descriptor: Int32

    /// What a descriptor is waited for. Whether the other end is gone is told in any case.
    enum Interest {
        /// Something to read, each time that it is asked for.
        case always
        /// Something to read, told once.
        case input
        /// Something to read, or room to send something, told once.
        case exchange
        /// Room to send something, told once.
        case output
        /// Nothing.
        case nothing

        fileprivate var events: UInt32 {
            switch self {
            case .always: EPOLLIN.rawValue
            case .input: EPOLLIN.rawValue | EPOLLONESHOT.rawValue
            case .exchange: EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLONESHOT.rawValue
            case .output: EPOLLOUT.rawValue | EPOLLONESHOT.rawValue
            case .nothing: EPOLLONESHOT.rawValue
            }
        }
    }

    /// - Throws: ``SocketError`` without a further descriptor.
    init() throws(SocketError) {
        descriptor = epoll_create1(Int32(truncatingIfNeeded: EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw .system(errno: errno) }
    }

    deinit { close(descriptor) }

    /// - Parameter number: Stands for the descriptor in ``wait(milliseconds:_:)``.
    /// - Returns: False without memory for one more.
    @discardableResult
    func add(_ watched: Int32, _ interest: Interest, number: UInt64) -> Bool {
        control(EPOLL_CTL_ADD, watched, interest, number)
    }

    @discardableResult
    func change(_ watched: Int32, _ interest: Interest, number: UInt64) -> Bool {
        control(EPOLL_CTL_MOD, watched, interest, number)
    }

    func remove(_ watched: Int32) { _ = control(EPOLL_CTL_DEL, watched, .nothing, 0) }

    private func control(_ operation: Int32, _ watched: Int32, _ interest: Interest, _ number: UInt64) -> Bool {
        var event = epoll_event()
        event.events = interest.events
        event.data.u64 = number
        return epoll_ctl(descriptor, operation, watched, &event) == 0
    }

    /// Waits until some are ready, and calls `body` with the number of each.
    func wait(milliseconds: Int32, _ body: (_ number: UInt64, _ isGone: Bool) -> Void) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.most) { events in
            let count = epoll_wait(descriptor, events.baseAddress, Int32(truncatingIfNeeded: Self.most), milliseconds)
            for index in 0..<max(0, Int(count)) {
                let gone = EPOLLHUP.rawValue | EPOLLERR.rawValue
                body(events[index].data.u64, events[index].events & gone != 0)
            }
        }
    }

    /// How many are told of at a time.
    private static let most = 128
}

/// A descriptor that can be read once somebody rings (eventfd(2)).
package final class Bell: Sendable {
    package let descriptor = eventfd(0, Int32(truncatingIfNeeded: EFD_NONBLOCK | EFD_CLOEXEC))

    package init() {}

    deinit { close(descriptor) }

    package func ring() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Makes the descriptor readable only by what comes later.
    package func silence() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
