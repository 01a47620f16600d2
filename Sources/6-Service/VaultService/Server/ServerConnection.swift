import Access
import Bytes
import CLibrary
import Connections
import DaemonLink
import Frames
import VaultInterface

/// One client's connection.
// Safe to share between threads: the loop lets one thread at a time call `step(_:)`, on which requests are answered and
// questions are asked, too. Another one may release the last reference.
final class ServerConnection: LoopedConnection, @unchecked Sendable {
    /// What the connection does next.
    private enum State {
        case greeting(until: ContinuousClock.Instant)
        /// The greeting is there. Who sent it is looked up when its process may have a further connection.
        case identification(Hello)
        case welcome(Peer)
        case refusal(VaultError?)
        case request
        /// A request is in the buffer, and may be answered now.
        case answer(wasPutOff: Bool)
        /// An answer is in the buffer.
        case sending(goesOn: Bool)
        /// Sends what happens, until the client says anything.
        case telling(Task<Void, Never>)
    }

    let socket: FrameSocket
    let server: VaultServer
    let seat: ConnectionSeat
    private let incoming = FrameBuffer()
    private let outgoing = FrameBuffer()
    private var state: State
    private var peer: Peer?
    private var grant = CallerGrant(identifier: "")
    private var generation = -1
    /// The room that the present request took on its way in.
    private var roomForRequest: RequestBudget.Claim?
    /// When the rest of the present request has to be there, and until when it may wait for room.
    private var endOfRest: ContinuousClock.Instant?
    private var endOfRoom: ContinuousClock.Instant?
    private var turn: CallTurn?
    private(set) var canAsk = false
    /// Few threads may stay awake at a time.
    private var staysAwake = true
    private var isConnected = false

    /// How often a request without room asks for it.
    private static let patience = Duration.milliseconds(10)

    init(_ seat: ConnectionSeat, server: VaultServer) {
        (self.seat, self.server) = (seat, server)
        socket = FrameSocket(seat.descriptor)
        state = .greeting(until: .now + server.limits.greeting)
    }

    deinit {
        forgetRequest()
        turn?.end()
        if case .telling(let teller) = state { teller.cancel() }
        if isConnected { server.observer.disconnected() }
    }

    /// Ends the connection at its next step.
    func end() { socket.shutdown() }

    func step(_ cause: StepCause) -> ConnectionNeed {
        // Whether the time for what the state waits for is over.
        var isLate = cause == .time
        while true {
            let need: ConnectionNeed?
            switch state {
            case .greeting(let deadline): need = readGreeting(until: deadline, isLate)
            case .identification(let hello): need = identify(hello)
            case .welcome(let peer): need = welcome(peer)
            case .refusal(let error):
                if let error {
                    record(error)
                    fail(error)
                }
                need = .end
            case .request: need = readRequest(isLate)
            case .answer(let wasPutOff):
                if let putOffAgain = answerRequest(wasPutOff: wasPutOff) { return putOffAgain }
                if case .telling = state {
                    need = socket.hasInput ? .end : .request(until: nil, staysAwake: false)
                } else {
                    need = putOff(delayOfAnswer)
                }
            case .sending(let goesOn): need = sendAnswer(isLate, goesOn)
            case .telling: need = .end
            }
            if let need { return need }
            isLate = false
        }
    }

    private func putOff(_ time: Duration) -> ConnectionNeed? { time > .zero ? .time(.now + time) : nil }

    // MARK: The beginning

    private func readGreeting(until deadline: ContinuousClock.Instant, _ isLate: Bool) -> ConnectionNeed? {
        do {
            guard !isLate else { throw SocketError.timedOut }
            switch try socket.receiveAvailable(into: incoming, limit: WireLimits.greeting) {
            case .incomplete, .refused: return .rest(until: deadline)
            case .frame(.hello): break
            case .frame: throw FrameError("a greeting has to come first")
            }
            var reader = FrameReader(incoming, from: 1)
            state = .identification(try Hello(from: &reader))
        } catch {
            return reject(error)
        }
        // Before its program is known, which costs a look into /proc.
        return putOff(server.rates.admitConnection(seat.program))
    }

    private func identify(_ hello: Hello) -> ConnectionNeed? {
        do {
            let peer = try Peer(of: socket.descriptor)
            self.peer = peer
            guard (hello.lowest...hello.highest).contains(WireProtocol.version) else {
                throw VaultError.unsupported(
                    reason: "the vault's daemon speaks version \(WireProtocol.version) of the protocol; "
                        + "install program and daemon from the same release")
            }
            try refreshGrant(of: peer)
            server.loop.greeted(seat, program)
            state = .welcome(peer)
            return putOff(server.rates.admitConnection(program))
        } catch {
            return reject(error)
        }
    }

    /// A connection that is refused costs as much as one that is served.
    private func reject(_ error: any Error) -> ConnectionNeed? {
        server.observer.rejected(reason: (error as? VaultError)?.description ?? "\(error)", user: seat.user)
        state = .refusal(error as? VaultError)
        return putOff(server.rates.admitConnection(ServedProgram(user: seat.user, name: "not served")))
    }

    private func welcome(_ peer: Peer) -> ConnectionNeed? {
        outgoing.appendFrame(.welcome) { Welcome(caller: grant.description).encode(to: outgoing) }
        guard (try? flush()) != nil else { return .end }
        isConnected = true
        server.observer.connected(grant.description, process: peer.identity.process, user: peer.identity.user)
        state = .request
        return nil
    }

    /// Stands for the owner's tool where programs share something.
    static let ownersTool = ServedProgram(user: geteuid(), name: "keychain", hasChosenName: false)

    private func refreshGrant(of peer: Peer) throws(VaultError) {
        let (entitlements, generation) = server.entitlements.current()
        guard generation != self.generation else { return }
        do {
            grant = try entitlements.grant(to: peer.identity, owner: server.owner, tool: server.ownerTool)
        } catch {
            throw .accessDenied(error)
        }
        self.generation = generation
    }

    // MARK: Requests

    /// The program from whose share the connection's requests are taken.
    private var program: ServedProgram { grant.program ?? Self.ownersTool }

    /// Reads a request, which keeps its room until ``forgetRequest()``.
    private func readRequest(_ isLate: Bool) -> ConnectionNeed? {
        do {
            if isLate, let end = endOfRest, end <= .now { throw SocketError.timedOut }
            let reception = try socket.receiveAvailable(into: incoming, limit: WireLimits.frame) { total in
                let present = roomForRequest ?? server.budget.begin(program)
                roomForRequest = present
                return server.budget.reserve(total, for: present, within: .zero)
            }
            switch reception {
            case .frame(.request):
                (endOfRest, endOfRoom) = (nil, nil)
                let delay = server.rates.admit(program)
                state = .answer(wasPutOff: delay > .zero)
                return putOff(delay)
            case .frame: return .end
            case .incomplete:
                endOfRoom = nil
                let (come, all) = socket.underWay
                guard come > 0 else { return .request(until: nil, staysAwake: staysAwake) }
                let end = endOfRest ?? .now + server.limits.transfer
                endOfRest = end
                return .rest(until: end + .seconds(all >> 20))
            case .refused:
                let end = endOfRoom ?? .now + server.limits.room
                endOfRoom = end
                guard end > .now else { throw SocketError.timedOut }
                // The time for the rest begins again when there is room.
                endOfRest = nil
                return .time(.now + Self.patience)
            }
        } catch {
            return .end
        }
    }

    /// Wipes the request's bytes, and gives their room back.
    private func forgetRequest() {
        incoming.recycle()
        if let roomForRequest { server.budget.end(roomForRequest) }
        roomForRequest = nil
    }

    /// How many bytes of the answer have gone out, and until when the others have to.
    private var sent = 0
    private var endOfSending: ContinuousClock.Instant?
    /// How long the answer that is ready has to wait.
    private var delayOfAnswer = Duration.zero

    /// Answers the request in the buffer, as far as that goes without sending the end of the answer.
    ///
    /// - Returns: Nil, or what the connection needs before the request can be answered.
    private func answerRequest(wasPutOff: Bool) -> ConnectionNeed? {
        let start = ContinuousClock.now
        var name = "malformed"
        var refusal: VaultError?
        var (goesOn, writes) = (true, false)
        delayOfAnswer = .zero
        staysAwake = !wasPutOff
        let turn = CallTurn(
            program, at: server.places, descriptor: socket.descriptor,
            waiting: { [server, seat] in server.loop.whileWaiting(seat, in: .work, $0) })
        self.turn = turn
        var isAnswered = true
        defer {
            if isAnswered { forgetRequest() }
            if delayOfAnswer > .zero { turn.pause() }
        }
        do {
            guard let peer, peer.isUnchanged() else {
                throw VaultError.accessDenied(
                    .unknownCaller(reason: "the program that made the connection is not the one that uses it"))
            }
            try refreshGrant(of: peer)
            var reader = FrameReader(incoming, from: 1)
            let header = try RequestHeader(from: &reader)
            canAsk = header.canAsk
            switch header.subject {
            case .operation(let code):
                (name, writes) = (code.operation.name, code.operation.traits.contains(.changesItems))
                try turn.begin(code.operation.traits, isSpent: wasPutOff, withRoomFor: incoming.count)
                // The requests that had the turn before may have spent more than came in meanwhile.
                if wasPutOff, let need = putOff(server.rates.remainingDelay(of: program)) {
                    turn.end()
                    self.turn = nil
                    isAnswered = false
                    return need
                }
                try answer(code.operation, header, &reader)
            case .subscription(let subscription):
                name = subscription.name
                try reader.finish()
                serve(subscription)
                return nil
            }
        } catch let error as VaultError {
            refusal = error
            outgoing.appendFrame(.failure) { outgoing.write(error) }
            if case .accessDenied(.unknownCaller) = error { goesOn = false }
            record(error)
        } catch {
            refusal = .invalidRequest(reason: "the request is malformed")
            fail(.invalidRequest(reason: "the request is malformed: \(error)"))
            goesOn = false
        }
        if let refusal, refusal.isRefusal { delayOfAnswer = server.rates.refused(program) }
        let time = ContinuousClock.now - start
        server.rates.charge(program, within: time, forWork: turn.work, writes: writes)
        // Before the answer is sent: a client that has its answer finds it counted, and the time of a slow reader does
        // not count.
        server.observer.answered(
            name, for: grant.identifier, of: peer?.identity.user ?? .max, in: time, refusal: refusal)
        state = .sending(goesOn: goesOn)
        return nil
    }

    private func record(_ error: VaultError) { server.record(error, of: grant.identifier, peer?.identity.user) }

    private func fail(_ error: VaultError) {
        outgoing.removeAll()
        outgoing.appendFrame(.failure) { outgoing.write(error) }
        try? flush()
    }

    /// Sends the end of an answer. A client that takes its time to read it keeps its room, and no thread.
    private func sendAnswer(_ isLate: Bool, _ goesOn: Bool) -> ConnectionNeed? {
        let end = endOfSending ?? .now + timeToSend
        let isSent = isLate ? nil : try? socket.sendAvailable(outgoing, &sent)
        if isSent == false {
            turn?.pause()
            endOfSending = end
            return .exchange(until: end)
        }
        (sent, endOfSending) = (0, nil)
        outgoing.recycle()
        turn?.end()
        turn = nil
        guard isSent == true, goesOn, !server.stops else { return .end }
        state = .request
        return socket.hasInput ? nil : .request(until: nil, staysAwake: staysAwake)
    }

    private var timeToSend: Duration { server.limits.transfer + .seconds(outgoing.bytes.count >> 20) }

    /// Sends what is ready. While a client takes its time to read it, others have the turn and the thread's place.
    private func flush() throws(SocketError) {
        defer { outgoing.removeAll() }
        var sent = 0
        guard try !socket.sendAvailable(outgoing, &sent) else { return }
        turn?.pause()
        try server.loop.whileWaiting(seat, in: .work) {
            Result { () throws(SocketError) in try socket.send(outgoing, within: timeToSend, sent: &sent) }
        }.get()
    }

    /// Performs the operation that follows `header`, and appends the answer to the outgoing buffer. What is ready is
    /// sent on the way, so that a long answer takes no more memory than a short one.
    private func answer<Operation: VaultOperation>(
        _ type: Operation.Type, _ header: RequestHeader, _ reader: inout FrameReader
    ) throws {
        let operation = try Operation(from: &reader)
        try reader.finish()
        forgetRequest()
        try operation.check()
        let claim = Operation.traits.contains(.concernsAllGroups) ? grant.groups : header.claim.accessGroups
        var parts: UInt32 = 0
        let reply = try RemotePrompt.$connection.withValue(self) {
            try CurrentCall.$served.withValue(turn) {
                try server.vault.perform(operation, as: grant.client(claiming: claim)) { part throws(VaultError) in
                    outgoing.appendFrame(.part) { outgoing.write(part) }
                    parts += 1
                    if outgoing.count >= WorkPlaces.freeRoom { try flushParts() }
                }
            }
        }
        outgoing.appendFrame(.result) {
            outgoing.write(parts, reply)
        }
    }

    private func flushParts() throws(VaultError) {
        let hadTurn = turn?.hasTurn ?? false
        do {
            try flush()
        } catch {
            end()
            throw .clientIsGone
        }
        if hadTurn { turn?.resume() }
    }

    // MARK: Subscriptions

    private func serve(_ subscription: VaultSubscription) {
        switch subscription {
        case .changes:
            // A client that does not read has an unread change already, and needs no second one.
            tell(of: server.vault.changes(to: server.audience(of: peer)), mayMiss: true) { frame, _ in
                frame.appendFrame(.change)
            }
        case .lockEvents:
            tell(of: server.vault.lockEvents(), mayMiss: false) { frame, event in
                frame.appendFrame(.lock) { frame.write(event) }
            }
        }
    }

    /// Sends a frame for each element until the connection ends.
    ///
    /// - Parameters:
    ///   - elements: From before the answer: the client takes it that nothing escapes it from there on.
    ///   - mayMiss: Whether a client that does not read may miss elements; else its connection ends.
    private func tell<Element: Sendable>(
        of elements: AsyncStream<Element>, mayMiss: Bool,
        _ write: @escaping @Sendable (FrameBuffer, Element) -> Void
    ) {
        outgoing.appendFrame(.result) { outgoing.append(UInt32(0)) }
        guard (try? flush()) != nil else {
            state = .sending(goesOn: false)
            return
        }
        // The task keeps the descriptor open until its last send.
        let kept = KeptSocket(socket)
        state = .telling(
            Task {
                let frame = FrameBuffer()
                for await element in elements {
                    frame.removeAll()
                    write(frame, element)
                    if !kept.send(frame), !mayMiss { kept.socket.shutdown() }
                }
            })
    }
}

/// A socket that a task and a connection share: the task sends whole frames, or none of them.
// Safe to share between threads: what the task uses is the descriptor, a constant.
private final class KeptSocket: @unchecked Sendable {
    let socket: FrameSocket

    init(_ socket: FrameSocket) { self.socket = socket }

    /// - Returns: Whether all of it went out. This waits for nothing.
    func send(_ frame: FrameBuffer) -> Bool {
        let bytes = frame.bytes
        return CLibrary.send(
            socket.descriptor, bytes.baseAddress, bytes.count,
            Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT)) == bytes.count
    }
}

extension VaultError {
    /// Whether a caller that met this may have been trying something.
    var isRefusal: Bool {
        switch self {
        case .accessDenied, .authenticationFailed, .wrongPasscode, .passcodeDelayed: true
        default: false
        }
    }
}
