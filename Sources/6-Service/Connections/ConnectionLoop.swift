import Access
import Bytes
import CLibrary
import Dispatch
import Frames
import SystemLibraries

/// Serves any number of connections with few threads.
///
/// One thread accepts them and waits for all of them. A connection has a thread only while it has something to do.
/// Users and programs take turns for the threads, and a program has a part of them at most. Whose connection it is and
/// whether there is room for it is decided before it has a buffer; no connection waits for the end of another one.
package final class ConnectionLoop: Sendable {
    private let limits: Limits
    private let poll: EventPoll
    private let bell = Bell()
    private let ready = DispatchSemaphore(value: 0)
    private let state: Monitor<State>

    /// The number of ``bell``, and the bit that the number of a connection's alarm has.
    private static let (bellNumber, alarmBit): (UInt64, UInt64) = (0, 1 << 63)
    /// How many connections may be over the limit while those go that made room for them.
    private static let mostEnding = 64
    /// How many are accepted before others have their turn.
    private static let mostAccepted = 64
    /// How long the loop's own thread waits at the most, in milliseconds.
    private static let longestWait: Int32 = 100
    /// How long a thread waits for the next request of a connection before it serves another one, in milliseconds.
    private static let moment: Int32 = 10
    /// How long a thread without work stays.
    private static let leisure = DispatchTimeInterval.seconds(5)
    private static let fewestWorkers = 2

    /// - Throws: ``SocketError`` without a further descriptor.
    package init(_ limits: Limits) throws(SocketError) {
        self.limits = limits
        let places = FairLine<ConnectionSeat>.Places(
            all: limits.threads, ofUser: limits.threads * 3 / 4, ofProgram: limits.threads / 4,
            keepsFirst: true)
        state = Monitor(State(line: FairLine(places)))
        poll = try EventPoll()
        poll.add(bell.descriptor, .always, number: Self.bellNumber)
    }

    // MARK: Listening

    /// Accepts the connections of a listening socket, until ``stop(within:)``.
    ///
    /// - Parameters:
    ///   - awaitsByte: Whether a connection has to say something before it is made. One of a program that never says
    ///     anything is made at once.
    ///   - make: Makes a connection; nil if it is not served.
    package func listen(
        _ listener: Int32, awaitsByte: Bool = true,
        _ make: @escaping @Sendable (ConnectionSeat) -> (any LoopedConnection)?
    ) {
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK)
        let number = state.withLock { state in
            let number = state.seats.nextNumber()
            state.listeners[number] = Listener(descriptor: listener, awaitsByte: awaitsByte, make: make)
            return number
        }
        poll.add(listener, .always, number: number)
    }

    /// Serves on this thread and others until ``stop(within:)``.
    ///
    /// - Parameter turn: Called at least once in each tenth of a second.
    package func run(everyTurn turn: () -> Void = {}) {
        while true {
            turn()
            let (isOver, deadline) = state.withLock { ($0.isOver, $0.nextDeadline) }
            guard !isOver else { return }
            var wait = Self.longestWait
            if let deadline {
                let left = ((deadline - .now) / .milliseconds(1)).rounded(.up)
                wait = min(wait, Int32(clamping: max(0, left)))
            }
            poll.wait(milliseconds: wait) { number, isGone in
                if number == Self.bellNumber { bell.silence() } else { notice(number, isGone) }
            }
            noticeDeadlines()
        }
    }

    /// Does what an event asks for.
    private func notice(_ number: UInt64, _ isGone: Bool) {
        let (listener, seat, isPutOff, isNew) = state.withLock { state in
            let seat = state.seats.all[number & ~Self.alarmBit]
            return (state.listeners[number], seat, seat?.isPutOff ?? false, seat?.hadConnection == false)
        }
        if let listener { return accept(from: listener) }
        guard let seat else { return }
        // A connection that is gone must not be served before those that wait.
        if isPutOff, number & Self.alarmBit == 0 { return drop(seat) }
        if !isNew || hasBegun(seat, isGone) { lineUp(seat, .input) }
    }

    /// Whether a connection without a greeting has sent a byte. One that is gone ends here, at little cost.
    private func hasBegun(_ seat: ConnectionSeat, _ isGone: Bool) -> Bool {
        var byte: UInt8 = 0
        let flags = Int32(truncatingIfNeeded: MSG_PEEK) | Int32(truncatingIfNeeded: MSG_DONTWAIT)
        let count = recv(seat.descriptor, &byte, 1, flags)
        if count > 0 { return true }
        if count < 0, errno == EAGAIN, !isGone {
            poll.change(seat.descriptor, .input, number: seat.number)
        } else {
            drop(seat)
        }
        return false
    }

    private func lineUp(_ seat: ConnectionSeat, _ cause: StepCause) {
        state.withLock { state in
            guard seat.activity == .resting, state.seats.all[seat.number] === seat else { return }
            lineUp(seat, cause, &state)
        }
    }

    private func lineUp(_ seat: ConnectionSeat, _ cause: StepCause, _ state: inout State) {
        seat.activity = .inLine
        seat.cause = cause
        state.deadlines[seat.number] = nil
        state.line.append(seat, of: seat.program)
        if state.line.hasPlace(for: seat.program) { callWorker(&state) }
    }

    private func noticeDeadlines() {
        var silent: [ConnectionSeat] = []
        state.withLock { state in
            // There was no memory for a thread.
            if state.workers == 0, !state.line.isEmpty { callWorker(&state) }
            let now = ContinuousClock.now
            guard let next = state.nextDeadline, next <= now else { return }
            for (number, deadline) in state.deadlines where deadline <= now {
                state.deadlines[number] = nil
                guard let seat = state.seats.all[number], seat.activity == .resting else { continue }
                if seat.hadConnection { lineUp(seat, .time, &state) } else { silent.append(seat) }
            }
            // Not again and again for deadlines that follow each other closely.
            state.nextDeadline = state.deadlines.values.min().map { max($0, now + .milliseconds(1)) }
        }
        for seat in silent {
            limits.refused("it said nothing in time", seat.user)
            drop(seat)
        }
    }

    private func setDeadline(_ deadline: ContinuousClock.Instant, _ seat: ConnectionSeat, _ state: inout State) {
        state.deadlines[seat.number] = deadline
        guard state.nextDeadline.map({ deadline < $0 }) ?? true else { return }
        state.nextDeadline = deadline
        // Otherwise the loop's thread sees it in time.
        if deadline - .now < .milliseconds(Int64(Self.longestWait)) { bell.ring() }
    }

    // MARK: Accepting

    private func accept(from listener: Listener) {
        for _ in 0..<Self.mostAccepted {
            let socket = CLibrary.accept(listener.descriptor, nil, nil)
            guard socket >= 0 else {
                guard [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) else { return }
                if let seat = state.withLock({ $0.seats.first() }) { end(seat) }
                // So that the descriptor of one that was at work is free.
                usleep(1_000)
                return
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            admit(socket, listener)
        }
    }

    private func admit(_ socket: Int32, _ listener: Listener) {
        guard let peer = UnixSocket.peer(of: socket), limits.admits(peer.user) else {
            close(socket)
            return
        }
        let program = ConnectionSeat.program(ofProcess: peer.process, peer.user)
        let (isFull, other) = state.withLock { state -> (Bool, ConnectionSeat?) in
            if state.seats.count(of: program) >= limits.newOfProcess { return (false, state.seats.first(of: program)) }
            guard state.seats.all.count >= limits.connections else { return (false, nil) }
            guard state.seats.ending < Self.mostEnding else { return (true, nil) }
            return (false, state.seats.first())
        }
        if let other { end(other) }
        guard !isFull else {
            limits.refused("too many connections", peer.user)
            close(socket)
            return
        }
        let seat = state.withLock { state in
            let seat = ConnectionSeat(
                number: state.seats.nextNumber(), descriptor: socket, user: peer.user, process: peer.process,
                listener.make)
            state.seats.add(seat)
            if listener.awaitsByte, let silence = limits.silence { setDeadline(.now + silence, seat, &state) }
            return seat
        }
        guard poll.add(socket, listener.awaitsByte ? .input : .nothing, number: seat.number) else { return drop(seat) }
        if !listener.awaitsByte { lineUp(seat, .input) }
    }

    // MARK: Ending

    /// Ends a connection that makes room.
    private func end(_ seat: ConnectionSeat) {
        let hasThread = state.withLock { state in
            guard state.seats.all[seat.number] === seat else { return true }
            guard seat.activity == .running || seat.activity == .awaited else { return false }
            state.seats.end(seat)
            shutdown(seat.descriptor, Int32(truncatingIfNeeded: SHUT_RDWR))
            return true
        }
        if !hasThread { drop(seat) }
    }

    /// Forgets a connection that no thread has.
    private func drop(_ seat: ConnectionSeat) {
        let connection: (any LoopedConnection)? = state.withLock { state in
            guard seat.activity == .resting || seat.activity == .inLine else { return nil }
            if seat.activity == .inLine { _ = state.line.remove(of: seat.program) { $0 === seat } }
            return forget(seat, &state)
        }
        release(connection)
    }

    /// Lets a connection go, which may close its descriptor here.
    private func release(_ connection: (any LoopedConnection)?) {
        withExtendedLifetime(connection) {}
        // Who waits for the end looks again.
        if state.withLock(\.isStopping) { state.change { _ in } }
    }

    private func forget(_ seat: ConnectionSeat, _ state: inout State) -> (any LoopedConnection)? {
        state.seats.remove(seat)
        state.deadlines[seat.number] = nil
        poll.remove(seat.descriptor)
        let connection = seat.connection
        if let connection, connection.alarm >= 0 { poll.remove(connection.alarm) }
        seat.connection = nil
        // It is gone for everything that still has its number.
        seat.activity = .running
        return connection
    }

    /// Ends every connection but those at work or with a question for a person, and waits until all are gone, at the
    /// most for `time`. Then it cuts off the rest, and ``run(everyTurn:)`` returns.
    package func stop(within time: Duration) {
        let deadline = ContinuousClock.now + time
        let (seats, idle) = state.withLock { state in
            state.isStopping = true
            for listener in state.listeners.values { poll.remove(listener.descriptor) }
            state.listeners = [:]
            defer { state.idle = 0 }
            return (Array(state.seats.all.values), state.idle)
        }
        defer {
            state.withLock { $0.isOver = true }
            bell.ring()
        }
        for seat in seats where state.withLock({ _ in seat.phase < .answer }) { end(seat) }
        for _ in 0..<idle { ready.signal() }
        if state.wait(until: deadline, for: { $0.seats.all.isEmpty && $0.seats.ending == 0 }) { return }
        for seat in state.withLock({ Array($0.seats.all.values) }) {
            shutdown(seat.descriptor, Int32(truncatingIfNeeded: SHUT_RDWR))
            lineUp(seat, .input)
        }
    }

    // MARK: Threads

    /// Lets a thread look for a connection that is ready.
    private func callWorker(_ state: inout State) {
        if state.idle > 0 {
            state.idle -= 1
            ready.signal()
        } else if state.workers < limits.threads + state.waiting.count {
            state.workers += 1
            // Without memory for one more thread, those that there are take it up.
            if !ConnectionThread.start({ [self] in work() }) { state.workers -= 1 }
        }
    }

    private func work() {
        while let seat = next() {
            while step(seat) {}
        }
    }

    /// Returns the next connection that is ready; nil if this thread is to end.
    private func next() -> ConnectionSeat? {
        while true {
            let (seat, isOver) = state.withLock { state -> (ConnectionSeat?, Bool) in
                if let seat = state.line.popNext() {
                    begin(seat, &state)
                    return (seat, false)
                }
                let isOver = state.isStopping || state.workers > limits.threads + state.waiting.count
                if isOver { state.workers -= 1 } else { state.idle += 1 }
                return (nil, isOver)
            }
            if let seat { return seat }
            guard !isOver, !rest() else { return nil }
        }
    }

    private func begin(_ seat: ConnectionSeat, _ state: inout State) {
        seat.activity = .running
        if seat.phase != .greeting { state.seats.enter(.work, seat) }
    }

    /// Waits until there is work.
    ///
    /// - Returns: Whether there was none for so long that this thread is to end.
    private func rest() -> Bool {
        guard ready.wait(timeout: .now() + Self.leisure) == .timedOut else { return false }
        let (isCalled, isOver) = state.withLock { state -> (Bool, Bool) in
            guard state.idle > 0 else { return (true, false) }
            state.idle -= 1
            guard state.workers > Self.fewestWorkers else { return (false, false) }
            state.workers -= 1
            return (false, true)
        }
        // Somebody calls just now.
        if isCalled { ready.wait() }
        return isOver
    }

    /// - Returns: Whether the connection goes on at once.
    private func step(_ seat: ConnectionSeat) -> Bool {
        if seat.connection == nil {
            let connection = seat.make(seat)
            state.withLock { _ in
                seat.connection = connection
                seat.hadConnection = connection != nil
            }
            if let alarm = seat.connection?.alarm, alarm >= 0 {
                poll.add(alarm, .nothing, number: seat.number | Self.alarmBit)
            }
        }
        let need = seat.connection?.step(seat.cause) ?? .end
        if case .request(_, staysAwake: true) = need { return awaitNext(seat, need) }
        let connection = state.withLock { state in
            state.line.giveBack(seat.program)
            return leave(seat, need, &state)
        }
        release(connection)
        return false
    }

    /// Waits a moment for the next request, in which the connection does not count as one with a thread. To sleep and
    /// to be woken takes longer than a lookup.
    ///
    /// - Returns: Whether it came, and this thread goes on with it.
    private func awaitNext(_ seat: ConnectionSeat, _ need: ConnectionNeed) -> Bool {
        var areMany = false
        let (isAwaited, connection) = state.withLock { state -> (Bool, (any LoopedConnection)?) in
            state.line.giveBack(seat.program)
            guard state.line.isEmpty, state.awaiting < limits.threads / 2, !state.isStopping, !seat.isEnding else {
                return (false, leave(seat, need, &state))
            }
            seat.activity = .awaited
            state.seats.enter(.request, seat)
            state.awaiting += 1
            areMany = state.awaiting > Processors.count
            return (true, nil)
        }
        guard isAwaited else {
            release(connection)
            return false
        }
        let hasCome = SocketWait.hasCome(
            to: seat.descriptor, or: seat.connection?.alarm ?? -1, within: Self.moment, letsOthersRun: areMany)
        let (goesOn, gone) = state.withLock { state -> (Bool, (any LoopedConnection)?) in
            state.awaiting -= 1
            guard hasCome, !seat.isEnding else { return (false, leave(seat, need, &state)) }
            guard state.line.isEmpty, state.line.hasPlace(for: seat.program) else {
                lineUp(seat, .input, &state)
                return (false, nil)
            }
            state.line.take(seat.program)
            seat.cause = .input
            begin(seat, &state)
            return (true, nil)
        }
        if !goesOn { release(gone) }
        return goesOn
    }

    /// Lets a connection wait for what it needs, without a thread.
    ///
    /// - Returns: The connection, if it has ended.
    private func leave(
        _ seat: ConnectionSeat, _ need: ConnectionNeed, _ state: inout State
    ) -> (any LoopedConnection)? {
        guard !seat.isEnding else { return forget(seat, &state) }
        switch need {
        case .end: return forget(seat, &state)
        case .turn: lineUp(seat, .input, &state)
        case .request(let deadline, _):
            guard !state.isStopping else { return forget(seat, &state) }
            if seat.isGreeted { state.seats.enter(.request, seat) }
            rest(seat, .input, until: deadline, &state)
        case .rest(let deadline):
            guard !state.isStopping else { return forget(seat, &state) }
            if seat.isGreeted { state.seats.enter(.rest, seat) }
            rest(seat, .input, until: deadline, &state)
        case .exchange(let deadline, let isAtRest):
            guard !isAtRest || !state.isStopping else { return forget(seat, &state) }
            if isAtRest, seat.isGreeted { state.seats.enter(.request, seat) }
            rest(seat, .exchange, until: deadline, &state)
        case .output(let deadline): rest(seat, .output, until: deadline, &state)
        case .time(let deadline): rest(seat, .nothing, until: deadline, &state)
        case .alarm(let deadline):
            guard !state.isStopping else { return forget(seat, &state) }
            if seat.isGreeted { state.seats.enter(.request, seat) }
            rest(seat, .nothing, until: deadline, &state, hearsAlarm: true)
        }
        return nil
    }

    private func rest(
        _ seat: ConnectionSeat, _ interest: EventPoll.Interest, until deadline: ContinuousClock.Instant?,
        _ state: inout State, hearsAlarm: Bool = false
    ) {
        seat.activity = .resting
        seat.isPutOff = interest == .nothing
        if let deadline { setDeadline(deadline, seat, &state) }
        if interest != .nothing || hearsAlarm, let alarm = seat.connection?.alarm, alarm >= 0 {
            poll.change(alarm, .input, number: seat.number | Self.alarmBit)
        }
        poll.change(seat.descriptor, interest, number: seat.number)
    }

    // MARK: What connections say in a step

    /// Takes a connection for one of `program` from here on.
    package func greeted(_ seat: ConnectionSeat, _ program: ServedProgram) {
        state.withLock { state in
            let former = seat.program
            guard state.seats.greeted(seat, program) else { return }
            state.line.giveBack(former)
            state.line.take(program)
            state.seats.enter(.work, seat)
            if !state.line.isEmpty { callWorker(&state) }
        }
    }

    /// Lets a connection wait for another socket from here on, under its own descriptor's number.
    ///
    /// - Parameter socket: Closed by the caller, as before.
    /// - Returns: False if there are too few descriptors.
    package func exchange(_ seat: ConnectionSeat, for socket: Int32) -> Bool {
        state.withLock { _ in
            poll.remove(seat.descriptor)
            guard dup2(socket, seat.descriptor) >= 0 else { return false }
            _ = fcntl(seat.descriptor, F_SETFD, FD_CLOEXEC)
            // Somebody may have made room with it meanwhile.
            if seat.isEnding { shutdown(seat.descriptor, Int32(truncatingIfNeeded: SHUT_RDWR)) }
            return poll.add(seat.descriptor, .nothing, number: seat.number)
        }
    }

    /// Runs `body`, which waits for the other end, while others have the thread's place.
    ///
    /// - Parameter phase: How early the connection makes room for others meanwhile.
    package func whileWaiting<Result>(_ seat: ConnectionSeat, in phase: ConnectionPhase, _ body: () -> Result) -> Result
    {
        state.withLock { state in
            if state.waiting.count >= limits.waits, let other = Self.firstWaiting(state) {
                shutdown(other.descriptor, Int32(truncatingIfNeeded: SHUT_RDWR))
                state.waiting.removeAll { $0 === other }
            }
            state.waiting.append(seat)
            state.line.giveBack(seat.program)
            if !seat.isEnding { state.seats.enter(phase, seat) }
            if !state.line.isEmpty { callWorker(&state) }
        }
        defer {
            state.withLock { state in
                state.waiting.removeAll { $0 === seat }
                state.line.take(seat.program)
                if !seat.isEnding { state.seats.enter(.work, seat) }
            }
        }
        return body()
    }

    /// The connection that has waited longest of the program that has most waiting.
    private static func firstWaiting(_ state: State) -> ConnectionSeat? {
        let counts = state.waiting.reduce(into: [ServedProgram: Int]()) { $0[$1.program, default: 0] += 1 }
        let most = counts.values.max()
        return state.waiting.first { counts[$0.program] == most }
    }
}
