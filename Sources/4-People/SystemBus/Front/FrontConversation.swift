import CLibrary
import Frames

/// A program's conversation in a front process: what it says goes to the process with the vault, and the answers come
/// back. Nothing here waits.
final class FrontConversation {
    private enum State {
        case reading
        /// The other process has the call.
        case asking(BusCall)
        /// It has to say that the conversation goes on, with a message of so many bytes.
        case waiting(room: Int)
        case over
    }

    private let peer: BusPeer
    private let link: FrontLink
    private var state = State.reading
    /// How many bytes the message that is arriving may take.
    private var room = FrameSocket.longFrame
    /// How many bytes it takes.
    private var arriving = 0
    /// Whether a long answer is on its way to the program.
    private var isLong = false
    /// Until when the program has to have read an answer. Signals wait without an end.
    private var deadline: ContinuousClock.Instant?
    /// Whether the program has closed its end, and may have left something to read.
    private var isProgramGone = false
    /// Whether the other process has closed its end, and may have left something to read.
    private var isLinkGone = false

    /// How long a program may take to read an answer.
    private static let patience = Duration.seconds(10)
    private static let farewell = Duration.seconds(1)

    /// - Parameters:
    ///   - program: The program's socket.
    ///   - link: The socket of the other process. Both belong to the conversation from now on.
    /// - Returns: Nil if there are too few descriptors.
    init?(program: Int32, link: Int32) {
        self.link = FrontLink(link)
        guard let peer = try? BusPeer(program) else { return nil }
        self.peer = peer
    }

    private var isReading: Bool { if case .reading = state { true } else { false } }

    /// What to wait for: events on the program's socket, and on the other process's.
    var interests: (program: pollfd, link: pollfd) {
        let hasUnsent = peer.hasUnsent
        let reads = isReading && !hasUnsent && !link.hasUnsent
        // poll(2) leaves out negative descriptors, and tells of one that is gone again and again.
        let program = isProgramGone && !reads ? -1 : peer.descriptor
        let other = isLinkGone && hasUnsent ? -1 : link.socket.descriptor
        return (
            pollfd(
                fd: program, events: BusPeer.events(input: reads, output: hasUnsent || peer.awaitsRoom), revents: 0),
            pollfd(fd: other, events: BusPeer.events(input: !hasUnsent, output: link.hasUnsent), revents: 0)
        )
    }

    /// When to look again in any case.
    var alarm: ContinuousClock.Instant? { peer.hasUnsent ? deadline : nil }

    /// Goes on as far as it can.
    ///
    /// - Parameters:
    ///   - program: What poll(2) told of the program's socket.
    ///   - link: What it told of the other process's.
    /// - Returns: False if the conversation is over.
    func step(program: Int16 = 0, link: Int16 = 0) -> Bool {
        let gone = Int16(truncatingIfNeeded: POLLHUP | POLLERR)
        if program & gone != 0 { isProgramGone = true }
        if link & gone != 0, !isLinkGone {
            isLinkGone = true
            // What was sent last has a moment to arrive, and no service manager waits longer.
            if peer.hasUnsent { deadline = .now + Self.farewell }
        }
        // Nobody waits for the answer any more.
        if isProgramGone, !isReading, !peer.hasUnread { return false }
        do {
            while try goOn() {}
        } catch {
            return false
        }
        if case .over = state { return false }
        return true
    }

    /// - Returns: Whether there may be more to do at once.
    private func goOn() throws -> Bool {
        try link.flush()
        if peer.hasUnsent {
            try peer.flush()
            guard !peer.hasUnsent else {
                if let deadline, deadline <= .now { throw BusError.timedOut(member: "reply") }
                return false
            }
        }
        deadline = nil
        if isLong {
            isLong = false
            link.report(.taken)
            return true
        }
        if let (order, isLong) = try link.next() {
            try obey(order, isLong)
            return true
        }
        guard isReading, !link.hasUnsent else { return false }
        return try read()
    }

    private func obey(_ order: FrontOrder, _ isLong: Bool) throws {
        switch (order, state) {
        case (.signal(let signal), _): try peer.emit(signal)
        case (.goOn, .waiting(let room)):
            self.room = max(room, FrameSocket.longFrame)
            state = .reading
        case (.answer, .asking(let call)), (.refusal, .asking(let call)):
            try peer.answer(call, order)
            deadline = .now + Self.patience
            room = FrameSocket.longFrame
            self.isLong = isLong
            state = .reading
        default: throw FrameError("nothing was asked")
        }
    }

    private func read() throws -> Bool {
        let event = try peer.next { bytes in
            arriving = bytes
            return bytes <= room
        }
        switch event {
        case .call(let call):
            if link.report(call.read()) != nil { state = .asking(call) } else { try peer.refuseLong(call) }
        case .done:
            link.report(.passed)
            state = .waiting(room: 0)
        case .full:
            // Some more, so that not each portion has to be asked for.
            let wanted = arriving + (1 << 18)
            link.report(.room(wanted))
            state = .waiting(room: wanted)
        case .signal: break
        case .pause: return false
        case .end: state = .over
        }
        return true
    }
}
