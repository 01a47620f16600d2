import Access
import Bytes
import CLibrary
import Connections
import DaemonLink
import Frames
import VaultInterface

/// A connection to a daemon, past its greeting.
///
/// For one thread at a time.
// Safe to share between threads: ConnectionPool removes a connection from its list, under its lock, before a thread
// uses it, so one thread at a time has it, and the lock orders their accesses. Only the thread of an event stream reads
// the connection of that stream. Any thread may call `end()`, which shuts down the socket's descriptor: a constant that
// stays open while there is a reference to this object.
final class ClientConnection: @unchecked Sendable {
    let caller: CallerDescription
    private let socket: FrameSocket
    private let outgoing = FrameBuffer()
    private let incoming = FrameBuffer()

    /// The reason why a call was not answered.
    enum Failure: Error {
        case refused(VaultError)
        /// The daemon went away.
        ///
        /// - Parameter wasSent: Whether it may have got the whole request.
        case lost(wasSent: Bool)
        case unusable(reason: String)
    }

    /// A whole answer. Parts are kept until the reply is there: a call whose answer is lost half-way may be made again.
    struct Answer<Operation: VaultOperation> {
        /// What was sent before the reply or the refusal.
        var parts: [Operation.Part]
        var reply: Result<Operation.Reply, VaultError>
    }

    init(to path: String) throws(ConnectError) {
        let greeting: DaemonGreeting
        do {
            greeting = try DaemonGreeting(to: path)
        } catch {
            throw ConnectError(error)
        }
        socket = greeting.socket
        var reader = FrameReader(greeting.frame, from: 1)
        do {
            if greeting.kind == .failure { throw ConnectError.refused(try reader.read()) }
            caller = try Welcome(from: &reader).caller
        } catch let error as ConnectError {
            throw error
        } catch {
            throw .unusable(reason: "\(path): what listens there is no daemon of this version (\(error))")
        }
    }

    /// Whether the connection can take another call.
    var isUsable: Bool { socket.isQuiet }

    /// Sends a call and waits for the answer, putting questions to its prompt meanwhile.
    func perform<Operation: VaultOperation>(_ call: RemoteCall<Operation>) throws(Failure) -> Answer<Operation> {
        try exchange {
            outgoing.appendRequest(call.operation, claim: call.claim, canAsk: call.canAsk)
        } receive: {
            try receiveAnswer(to: Operation.self, call.prompt)
        }
    }

    /// Subscribes. From then on, the connection only receives notifications.
    func subscribe(to subscription: VaultSubscription, as client: Client) throws(Failure) {
        try exchange {
            outgoing.appendRequest(subscription, claim: client)
        } receive: {
            switch try socket.receive(into: incoming, limit: WireLimits.frame, first: nil, rest: WireProtocol.patience)
            {
            case .result: return
            case .failure:
                var reader = FrameReader(incoming, from: 1)
                throw try reader.read(VaultError.self)
            default: throw FrameError("unexpected frame")
            }
        }
    }

    /// Sends the request that `write` appends to the outgoing buffer, and has `receive` read the answer.
    private func exchange<Answer>(_ write: () -> Void, receive: () throws -> Answer) throws(Failure) -> Answer {
        defer {
            outgoing.recycle()
            incoming.recycle()
        }
        write()
        guard outgoing.bytes.count <= WireLimits.frame + 4 else {
            throw .refused(.invalidRequest(reason: "the request is too large for the daemon"))
        }
        var sent = 0
        do {
            try socket.send(outgoing, within: WireProtocol.patience + .seconds(outgoing.bytes.count >> 20), sent: &sent)
        } catch {
            // A refusal may have come before the whole request went out.
            if case .closed = error, let refusal = try? pendingRefusal() { throw .refused(refusal) }
            throw .lost(wasSent: sent == outgoing.bytes.count)
        }
        outgoing.removeAll()
        do {
            return try receive()
        } catch let failure as VaultError {
            throw .refused(failure)
        } catch is FrameError {
            throw .unusable(reason: Self.malformedAnswer)
        } catch SocketError.malformed, SocketError.tooLong {
            throw .unusable(reason: Self.malformedAnswer)
        } catch {
            throw .lost(wasSent: true)
        }
    }

    private static let malformedAnswer =
        "the program cannot read the daemon's answer; install program and daemon from one release"

    private func receiveAnswer<Operation: VaultOperation>(
        to operation: Operation.Type, _ prompt: any PasscodePrompt
    ) throws -> Answer<Operation> {
        var parts: [Operation.Part] = []
        while true {
            // As long as the daemon is there it may be at work, or wait for a person.
            let kind = try socket.receive(
                into: incoming, limit: WireLimits.frame, first: nil, rest: WireProtocol.patience)
            var reader = FrameReader(incoming, from: 1)
            switch kind {
            case .result:
                guard try reader.integer(UInt32.self) == UInt32(clamping: parts.count) else {
                    throw FrameError("parts of the answer are missing")
                }
                let reply = try Operation.Reply(from: &reader)
                try reader.finish()
                return Answer(parts: parts, reply: .success(reply))
            case .failure: return Answer(parts: parts, reply: .failure(try reader.read()))
            case .part:
                parts.append(try Operation.Part(from: &reader))
                try reader.finish()
            case .message: prompt.show(try reader.read())
            // The question that was taken back has been answered in the meantime.
            case .retraction: break
            case .question: try answer(reader.read(), with: prompt)
            default: throw FrameError("unexpected frame")
            }
        }
    }

    private func answer(_ asked: SentQuestion, with prompt: any PasscodePrompt) throws {
        let deadline = ContinuousClock.now + .seconds(Int64(asked.seconds))
        let answer = Retraction.watching(socket.descriptor) {
            prompt.ask(asked.question, until: deadline, cancellation: $0)
        }
        outgoing.appendFrame(.answer) { outgoing.write(answer) }
        try socket.send(outgoing, within: WireProtocol.patience)
        outgoing.recycle()
    }

    private func pendingRefusal() throws -> VaultError {
        let kind = try socket.receive(
            into: incoming, limit: WireLimits.frame, first: .milliseconds(100), rest: .seconds(1))
        guard kind == .failure else { throw FrameError("unexpected frame") }
        var reader = FrameReader(incoming, from: 1)
        return try reader.read()
    }

    /// Waits for the next change that the daemon tells of, after a call for them.
    func waitForChange() throws {
        let kind = try socket.receive(into: incoming, limit: WireLimits.frame, first: nil, rest: WireProtocol.patience)
        guard kind == .change else { throw FrameError("unexpected frame") }
    }

    /// Waits for what the daemon tells next of the lock, after a call for that.
    func waitForLockEvent() throws -> LockEvent {
        let kind = try socket.receive(into: incoming, limit: WireLimits.frame, first: nil, rest: WireProtocol.patience)
        guard kind == .lock else { throw FrameError("unexpected frame") }
        var reader = FrameReader(incoming, from: 1)
        let event = try reader.read(LockEvent.self)
        try reader.finish()
        return event
    }

    /// Ends what waits on the connection. Safe on any thread.
    func end() { socket.shutdown() }
}

/// The reason why there is no connection.
enum ConnectError: Error, Equatable {
    case nobodyListens
    /// The daemon ended it before it greeted, as one that is stopping does.
    case closed
    case refused(VaultError)
    case unusable(reason: String)

    fileprivate init(_ failure: GreetingFailure) {
        switch failure {
        case .nobodyListens: self = .nobodyListens
        case .closed: self = .closed
        case .unusable(let reason): self = .unusable(reason: reason)
        }
    }
}
