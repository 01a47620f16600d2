import Access
import Bytes
import CLibrary
import Dispatch
import FoundationEssentials
import Frames
import KeychainModel
import VaultInterface

/// One client's connection, on a thread of its own.
// Safe to share between threads: what changes is touched by the thread that calls `run()` alone, on which requests are
// answered and questions are asked, too. Others read `wait`, which is atomic, and call `end()`, which shuts down the
// socket's descriptor: a constant, open for as long as anybody has a reference to this.
final class ServerConnection: ServedConnection, @unchecked Sendable {
    let socket: FrameSocket
    let server: VaultServer
    let wait = ConnectionWait()
    private let incoming = FrameBuffer()
    private let outgoing = FrameBuffer()
    private var peer: Peer?
    private var grant = CallerGrant(identifier: "")
    private var generation = -1
    /// The room that the present request took on its way in.
    private var roomForRequest: RequestBudget.Claim?
    private var turn: CallTurn?
    private(set) var canAsk = false

    init(_ socket: FrameSocket, server: VaultServer) {
        self.socket = socket
        self.server = server
    }

    /// Wakes the thread and lets it end. Safe on any thread.
    func end() { socket.shutdown() }

    func run() {
        guard greet() else { return }
        defer { server.observer.disconnected() }
        defer { forgetRequest() }
        while !server.stops {
            wait.begin(.request)
            guard let kind = try? receive() else { return }
            wait.begin(.work)
            guard kind == .request, answerRequest() else { return }
        }
    }

    // MARK: The beginning

    private func greet() -> Bool {
        do {
            let peer = try Peer(of: socket.descriptor)
            self.peer = peer
            let kind = try socket.receive(
                into: incoming, limit: WireLimits.greeting, first: server.limits.greeting, rest: server.limits.greeting)
            guard kind == .hello else { throw FrameError("a greeting has to come first") }
            var reader = FrameReader(incoming, from: 1)
            let hello = try Hello(from: &reader)
            guard (hello.lowest...hello.highest).contains(WireProtocol.version) else {
                throw VaultError.unsupported(
                    reason: "the vault's daemon speaks version \(WireProtocol.version) of the protocol; "
                        + "install program and daemon from the same release")
            }
            try refreshGrant(of: peer)
            server.registry.greeted(self, program)
            server.rates.admitConnection(program, on: socket.descriptor)
            outgoing.appendFrame(.welcome) { Welcome(caller: grant.description).encode(to: outgoing) }
            try flush()
            server.observer.connected(
                grant.description, process: peer.identity.process, user: peer.identity.user)
            return true
        } catch {
            server.observer.rejected(
                reason: (error as? VaultError)?.description ?? "\(error)", user: peer?.identity.user)
            // A connection that is refused costs as much as one that is served.
            let user = Peer.user(of: socket.descriptor)
            server.rates.admitConnection(ServedProgram(user: user, name: "not served"), on: socket.descriptor)
            guard let error = error as? VaultError else { return false }
            record(error)
            fail(error)
        }
        return false
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

    /// Whose share the connection's requests are taken from.
    private var program: ServedProgram { grant.program ?? Self.ownersTool }

    /// Reads a request, which keeps its room until ``forgetRequest()``.
    private func receive() throws(SocketError) -> FrameKind {
        try socket.waitForInput()
        wait.begin(.rest)
        return try socket.receive(
            into: incoming, limit: WireLimits.frame, first: server.limits.transfer, rest: server.limits.transfer
        ) { total throws(SocketError) in
            let present = roomForRequest ?? server.budget.begin(program)
            roomForRequest = present
            guard server.budget.reserve(total, for: present, within: server.limits.room) else { throw .timedOut }
        }
    }

    /// Wipes the request's bytes, and gives their room back.
    private func forgetRequest() {
        incoming.recycle()
        if let roomForRequest { server.budget.end(roomForRequest) }
        roomForRequest = nil
    }

    /// - Returns: Whether the connection can go on.
    private func answerRequest() -> Bool {
        let start = ContinuousClock.now
        var name = "malformed"
        var refusal: VaultError?
        var goesOn = true
        let turn = CallTurn(program, at: server.places, descriptor: socket.descriptor)
        self.turn = turn
        defer {
            forgetRequest()
            outgoing.recycle()
            turn.end()
            self.turn = nil
        }
        do {
            guard let peer, peer.isUnchanged() else {
                throw VaultError.accessDenied(
                    .unknownCaller(reason: "the program that made the connection is not the one that uses it"))
            }
            try refreshGrant(of: peer)
            let isSpent = server.rates.admit(program, on: socket.descriptor)
            // Few threads may stay awake at a time.
            socket.mayStayAwake = !isSpent
            var reader = FrameReader(incoming, from: 1)
            let header = try RequestHeader(from: &reader)
            canAsk = header.canAsk
            switch header.subject {
            case .operation(let code):
                name = code.operation.name
                try turn.begin(code.operation.traits, isSpent: isSpent, withRoomFor: incoming.count)
                try answer(code.operation, header, &reader)
            case .subscription(let subscription):
                name = subscription.name
                try reader.finish()
                serve(subscription)
                return false
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
        if let refusal, refusal.isRefusal { server.rates.refused(program, on: socket.descriptor) }
        let time = ContinuousClock.now - start
        server.rates.charge(program, within: time, forWork: turn.work)
        // Before the answer is sent: a client that has its answer finds it counted, and the time of a slow reader does
        // not count.
        server.observer.answered(
            name, for: grant.identifier, of: peer?.identity.user ?? .max, in: time, refusal: refusal)
        if (try? flush()) == nil { goesOn = false }
        return goesOn
    }

    private func record(_ error: VaultError) { server.record(error, of: grant.identifier, peer?.identity.user) }

    private func fail(_ error: VaultError) {
        outgoing.removeAll()
        outgoing.appendFrame(.failure) { outgoing.write(error) }
        try? flush()
    }

    /// Sends what is ready. While a client takes its time to read it, others have the turn.
    private func flush() throws(SocketError) {
        defer { outgoing.removeAll() }
        try socket.send(
            outgoing, within: server.limits.transfer + .seconds(outgoing.bytes.count >> 20),
            whileFull: { turn?.pause() })
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

    /// Sends a frame for each element until the client goes away.
    ///
    /// - Parameters:
    ///   - elements: From before the answer: the client takes it that nothing escapes it from there on.
    ///   - mayMiss: Whether a client that does not read may miss elements; else its connection ends.
    private func tell<Element: Sendable>(
        of elements: AsyncStream<Element>, mayMiss: Bool,
        _ write: @escaping @Sendable (FrameBuffer, Element) -> Void
    ) {
        outgoing.appendFrame(.result) { outgoing.append(UInt32(0)) }
        guard (try? flush()) != nil else { return }
        let descriptor = socket.descriptor
        let teller = Task {
            let frame = FrameBuffer()
            for await element in elements {
                frame.removeAll()
                write(frame, element)
                let bytes = frame.bytes
                let sent = send(
                    descriptor, bytes.baseAddress, bytes.count,
                    Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT))
                if sent != bytes.count, !mayMiss { shutdown(descriptor, Int32(truncatingIfNeeded: SHUT_RDWR)) }
            }
        }
        wait.begin(.request)
        // Anything the client says from now on ends the connection.
        try? socket.waitForInput()
        let ended = DispatchSemaphore(value: 0)
        teller.cancel()
        Task {
            await teller.value
            ended.signal()
        }
        // The descriptor must not be closed, and given to another connection, before the last send.
        ended.wait()
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
