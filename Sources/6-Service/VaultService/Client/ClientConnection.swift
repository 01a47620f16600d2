import Access
import Bytes
import CLibrary
import Connections
import Frames
import ProcessVault
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

    /// How long the other side may take to greet, or with a transfer that has begun.
    private static let patience = Duration.seconds(10)

    init(to path: String) throws(ConnectError) {
        let descriptor: Int32
        do {
            descriptor = try UnixSocket.connect(to: path)
        } catch {
            guard case .system(let code) = error else { throw .unusable(reason: "\(path): no connection") }
            if [ENOENT, ECONNREFUSED, ENOTDIR].contains(code) { throw .nobodyListens }
            throw .unusable(reason: "\(path): \(String(cString: strerror(code)))")
        }
        socket = FrameSocket(descriptor)
        // Another user who listens there would receive secrets.
        guard let user = UnixSocket.user(of: descriptor), Self.isTrusted(user, path) else {
            throw .unusable(
                reason: "\(path): another user listens there. A daemon has to run as you or as root, or serve "
                    + "\(VaultPlace.systemSocket) in a folder that root made")
        }
        do {
            let frame = FrameBuffer()
            frame.appendFrame(.hello) { Hello().encode(to: frame) }
            try socket.send(frame, within: Self.patience)
            let kind = try socket.receive(
                into: frame, limit: WireLimits.frame, first: Self.patience, rest: Self.patience)
            var reader = FrameReader(frame, from: 1)
            switch kind {
            case .welcome:
                let welcome = try Welcome(from: &reader)
                guard welcome.version == WireProtocol.version else { throw FrameError("another version") }
                caller = welcome.caller
            case .failure: throw try reader.read(VaultError.self)
            default: throw FrameError("no greeting")
            }
        } catch let error as VaultError {
            throw .refused(error)
        } catch SocketError.closed {
            throw .closed
        } catch SocketError.timedOut {
            throw .unusable(reason: "\(path): the daemon does not answer; restart it")
        } catch {
            throw .unusable(reason: "\(path): what listens there is no daemon of this version (\(error))")
        }
    }

    /// Returns whether a daemon of `user` may receive secrets: one of this process's own user, of root, or of the user
    /// to whom root gave the folder of the system's socket.
    private static func isTrusted(_ user: uid_t, _ path: String) -> Bool {
        if user == geteuid() || user == 0 { return true }
        guard path == VaultPlace.systemSocket else { return false }
        let folders = path.split(separator: "/").dropLast()
        return folders.indices.allSatisfy { last in
            let isLast = last == folders.indices.last
            return Self.isGuarded("/" + folders[...last].joined(separator: "/"), by: isLast ? [0, user] : [0])
        } && Self.isGuarded("/", by: [0])
    }

    /// Whether `path` is a folder that nobody but one of `owners` can change.
    private static func isGuarded(_ path: String, by owners: Set<uid_t>) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR && info.st_mode & 0o022 == 0
            && owners.contains(info.st_uid)
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
            switch try socket.receive(into: incoming, limit: WireLimits.frame, first: nil, rest: Self.patience) {
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
            try socket.send(outgoing, within: Self.patience + .seconds(outgoing.bytes.count >> 20), sent: &sent)
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
            let kind = try socket.receive(into: incoming, limit: WireLimits.frame, first: nil, rest: Self.patience)
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
        try socket.send(outgoing, within: Self.patience)
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
        let kind = try socket.receive(into: incoming, limit: WireLimits.frame, first: nil, rest: Self.patience)
        guard kind == .change else { throw FrameError("unexpected frame") }
    }

    /// Waits for what the daemon tells next of the lock, after a call for that.
    func waitForLockEvent() throws -> LockEvent {
        let kind = try socket.receive(into: incoming, limit: WireLimits.frame, first: nil, rest: Self.patience)
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
}
