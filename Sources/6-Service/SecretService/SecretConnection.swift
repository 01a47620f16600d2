import Connections
import Frames
import SystemBus
import VaultService

/// A program's connection with no bus in between. A front process reads what the program says, and tells it here.
final class SecretConnection: GuestProtocol {
    /// What a daemon lets a program do. A service of one user's own programs limits nothing.
    protocol Limits {
        /// Counts a call.
        ///
        /// - Returns: How long it is put off.
        func admitCall() -> Duration
        /// Answers a call that was counted, and counts the work for it.
        ///
        /// - Returns: How long the answer has to wait.
        func call(_ body: () -> Void) -> Duration
        /// Runs something with a place among the few for long calls.
        func withPlace(_ body: () -> Void)
        /// Whether a message may take so many bytes on its way in, or an answer on its way out.
        func admits(_ bytes: Int) -> Bool
        /// What to wait for otherwise.
        var needOfRoom: ConnectionNeed { get }
        func giveRoomBack()
    }

    /// What has begun and is not finished.
    private enum Work {
        case none
        /// A call waits until it may be answered.
        case call(FrontCall)
        /// The answer waits until it may be sent.
        case answer(FrontCall, Result<SecretAnswer, SecretServiceError>)
        /// The front waits until its message may take so many bytes.
        case room(Int)
        /// The front waits until its program may say more.
        case passed
    }

    private let conversation: SecretFronts.Conversation?
    private let front: FrameSocket
    private let client: SecretClient
    private let hub: SecretHub
    private let limits: any Limits
    private let incoming = FrameBuffer()
    private let outgoing = FrameBuffer()
    private var sent = 0
    /// Until when the front has to take in an answer; nil if there is none on its way.
    private var endOfSending: ContinuousClock.Instant?
    private var work = Work.none
    /// How many messages are read before other connections have their turn.
    private static let mostMessages = 16
    /// Longer than a front waits for its program.
    private static let patience = Duration.seconds(15)

    /// - Parameters:
    ///   - descriptor: The front's socket, which somebody else closes.
    ///   - conversation: Kept for as long as this is used.
    init(
        _ descriptor: Int32, _ conversation: SecretFronts.Conversation?, _ client: SecretClient, _ hub: SecretHub,
        _ limits: any Limits
    ) {
        front = FrameSocket(descriptor, ownsDescriptor: false)
        (self.conversation, self.client, self.hub, self.limits) = (conversation, client, hub, limits)
        hub.add(client.mailbox)
    }

    deinit { hub.remove(client.mailbox) }

    func step(_ cause: StepCause) -> ConnectionNeed {
        do {
            for _ in 0..<Self.mostMessages {
                if let need = try goOn() { return need }
                queueSignals()
                let isSent = try send()
                // Signals wait for a program that does not read; its calls do not wait for them.
                if !isSent, let endOfSending { return .output(until: endOfSending) }
                if isSent, !client.mailbox.isEmpty { continue }
                switch try front.receiveAvailableFrame(
                    into: incoming, limit: FrontReport.longest, admit: limits.admits)
                {
                case .frame: if let need = try take(FrontReport(incoming)) { return need }
                case .refused: return limits.needOfRoom
                case .incomplete where isSent: return .request(until: client.deadline, staysAwake: true)
                case .incomplete: return .exchange(until: client.deadline, isAtRest: true)
                }
            }
            return .turn
        } catch {
            // The front or the program is gone, or the front said what it must not say.
            return .end
        }
    }

    private func take(_ report: FrontReport) throws(FrameError) -> ConnectionNeed? {
        incoming.recycle()
        switch report {
        case .call(let call): work = .call(call)
        case .passed: work = .passed
        case .room(let bytes): work = .room(bytes)
        case .taken: limits.giveRoomBack()
        case .ready, .failed, .left, .nameLost: throw FrameError("no report of a conversation")
        }
        // A message that needs no answer costs as much as a call, and so does all that a front says which its program
        // has taken over.
        let delay = limits.admitCall()
        return delay > .zero ? .time(.now + delay) : nil
    }

    /// Queues the signals that are due for the program.
    private func queueSignals() {
        client.mailbox.beginTaking()
        for signal in client.due(now: .now) { FrontOrder.signal(signal).encode(to: outgoing) }
        while outgoing.count < FrameSocket.longFrame, let message = client.mailbox.take() {
            switch message {
            case .signal(let signal), .awaited(let signal): FrontOrder.signal(signal).encode(to: outgoing)
            case .lockChange: break
            }
        }
    }

    /// Sends as much as the front takes in now.
    ///
    /// - Returns: Whether that is all.
    private func send() throws(SocketError) -> Bool {
        guard outgoing.count > 0 else { return true }
        if try front.sendAvailable(outgoing, &sent) {
            outgoing.recycle()
            (sent, endOfSending) = (0, nil)
            return true
        }
        if let endOfSending, endOfSending <= .now { throw .timedOut }
        return false
    }

    /// Goes on with what is on its way.
    ///
    /// - Returns: What has to come first; nil for nothing.
    private func goOn() throws(SocketError) -> ConnectionNeed? {
        if case .call(let call) = work {
            var result = Result<SecretAnswer, SecretServiceError>.failure(.malformed)
            conversation?.noteUse()
            let answer = { result = SecretAnswer.result { try self.answer(reading: call) } }
            let delay = limits.call { call.request.isLong ? limits.withPlace(answer) : answer() }
            work = .answer(call, result)
            if delay > .zero { return .time(.now + delay) }
        }
        switch work {
        case .none, .call: break
        case .answer(let call, let result):
            if case .success(let answer) = result, !limits.admits(answer.size) { return limits.needOfRoom }
            work = .none
            let former = outgoing.count
            FrontOrder(call.number, result).encode(to: outgoing)
            endOfSending = .now + Self.patience
            // The front tells when its program has read a long answer.
            if outgoing.count - former - 4 <= FrameSocket.longFrame { limits.giveRoomBack() }
        case .room(let bytes):
            guard limits.admits(bytes) else { return limits.needOfRoom }
            letGoOn()
        case .passed:
            limits.giveRoomBack()
            letGoOn()
        }
        return nil
    }

    private func letGoOn() {
        work = .none
        FrontOrder.goOn.encode(to: outgoing)
        endOfSending = .now + Self.patience
    }

    private func answer(reading call: FrontCall) throws -> SecretAnswer {
        let isForBus = call.request.interface == BusNames.interface
        if !isForBus { try call.request.check() }
        guard let arguments = call.arguments else { throw SecretServiceError.malformed }
        let read = SecretCall(request: call.request, arguments: arguments)
        guard isForBus else { return try client.answer(read) }
        if call.request.member == "AddMatch" { try client.listen() }
        return SecretAnswer(values: try BusNames.answer(read))
    }
}
