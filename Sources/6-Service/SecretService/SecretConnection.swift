import SystemBus
import VaultInterface
import VaultService

/// A program's connection with no bus in between.
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

    /// A call on its way.
    private enum Work {
        case none
        /// It waits until it may be answered.
        case call(BusCall)
        /// The answer waits until it may be sent.
        case answer(BusCall, Result<SecretAnswer, SecretServiceError>)
    }

    private let peer: BusPeer
    private let client: SecretClient
    private let hub: SecretHub
    private let limits: any Limits
    private var work = Work.none
    /// How many messages are read before other connections have their turn.
    private static let mostMessages = 16

    init(_ peer: BusPeer, _ client: SecretClient, _ hub: SecretHub, _ limits: any Limits) {
        (self.peer, self.client, self.hub, self.limits) = (peer, client, hub, limits)
        hub.add(client.mailbox)
    }

    deinit { hub.remove(client.mailbox) }

    func step(_ cause: StepCause) -> ConnectionNeed {
        do throws(BusError) {
            if let need = try goOn() { return need }
            for _ in 0..<Self.mostMessages {
                try tell()
                switch try peer.next(until: .now, admit: limits.admits) {
                case .call(let call):
                    work = .call(call)
                    let delay = limits.admitCall()
                    if delay > .zero { return .time(.now + delay) }
                    if let need = try goOn() { return need }
                case .done:
                    limits.giveRoomBack()
                    // It costs its program as much as a call.
                    let delay = limits.admitCall()
                    if delay > .zero { return .time(.now + delay) }
                case .signal: break
                case .full: return limits.needOfRoom
                case .pause:
                    guard client.mailbox.isEmpty else { return .exchange(until: client.deadline) }
                    return .request(until: client.deadline, staysAwake: true)
                case .end: return .end
                }
            }
            return .turn
        } catch {
            // The program no longer reads, or is gone.
            return .end
        }
    }

    /// Sends the signals that wait. Those for a program that does not read go on waiting, and end no connection.
    private func tell() throws(BusError) {
        client.mailbox.beginTaking()
        while peer.canSend, let message = client.mailbox.take() {
            switch message {
            case .signal(let signal), .awaited(let signal): try peer.emit(signal)
            case .lockChange: break
            }
        }
        for signal in client.due(now: .now) { try peer.emit(signal) }
    }

    /// Goes on with the call that is on its way.
    ///
    /// - Returns: What has to come first; nil for nothing.
    private func goOn() throws(BusError) -> ConnectionNeed? {
        if case .call(let call) = work {
            var result = Result<SecretAnswer, SecretServiceError>.failure(.malformed)
            let answer = { result = SecretAnswer.result { try self.answer(reading: call) } }
            let delay = limits.call { call.request.isLong ? limits.withPlace(answer) : answer() }
            work = .answer(call, result)
            if delay > .zero { return .time(.now + delay) }
        }
        if case .answer(let call, let result) = work {
            if case .success(let answer) = result, !limits.admits(answer.size) { return limits.needOfRoom }
            work = .none
            defer { limits.giveRoomBack() }
            try peer.reply(to: call, with: result)
        }
        return nil
    }

    private func answer(reading call: BusCall) throws -> SecretAnswer {
        let isForBus = call.request.interface == BusNames.interface
        if !isForBus { try call.request.check() }
        guard let arguments = call.arguments(most: call.request.mostValues) else {
            throw SecretServiceError.malformed
        }
        let read = SecretCall(request: call.request, arguments: arguments)
        guard isForBus else { return try client.answer(read) }
        if call.request.member == "AddMatch" { try client.listen() }
        return SecretAnswer(values: try BusNames.answer(read))
    }
}
