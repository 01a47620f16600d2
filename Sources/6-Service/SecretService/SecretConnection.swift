import SystemBus
import VaultInterface

/// A program's connection with no bus in between.
struct SecretConnection {
    let peer: BusPeer
    let client: SecretClient
    let hub: SecretHub
    /// Counts a call as the program's, and the work for it.
    var counting: (() -> Void) -> Void = { $0() }
    /// Runs something with a place among the few for long calls.
    var withPlace: (() -> Void) -> Void = { $0() }
    /// Whether a message may take so many bytes on its way in, or an answer on its way out. May wait.
    var admit: (Int) -> Bool = { _ in true }
    /// Called before the program is waited for, and when it has sent something.
    var waits: () -> Void = {}
    var works: () -> Void = {}

    /// Serves until the program ends the connection.
    func run() {
        hub.add(client.mailbox)
        defer { hub.remove(client.mailbox) }
        do throws(BusError) {
            while true {
                client.mailbox.beginTaking()
                // Signals wait for a program that does not read, and end no connection.
                while peer.canSend, let message = client.mailbox.take() {
                    switch message {
                    case .signal(let signal), .awaited(let signal): try peer.emit(signal)
                    case .lockChange: break
                    }
                }
                for signal in client.due(now: .now) { try peer.emit(signal) }
                waits()
                let hasMore = !client.mailbox.isEmpty
                switch try peer.next(
                    until: client.deadline, wake: hasMore ? -1 : client.mailbox.descriptor, orCanSend: hasMore,
                    admit: admit)
                {
                case .call(let call):
                    works()
                    guard try answer(call) else { return }
                case .done: counting {}
                case .signal, .pause: break
                case .end: return
                }
            }
        } catch {
            // The program no longer reads, or is gone.
        }
    }

    /// - Returns: False if there was no room for the answer in time.
    private func answer(_ call: BusCall) throws(BusError) -> Bool {
        var result = Result<SecretAnswer, SecretServiceError>.failure(.malformed)
        var isAdmitted = true
        let answer = {
            result = SecretAnswer.result { try self.answer(reading: call) }
            if case .success(let answer) = result { isAdmitted = admit(answer.size) }
        }
        counting { call.request.isLong ? withPlace(answer) : answer() }
        guard isAdmitted else { return false }
        try peer.reply(to: call, with: result)
        return true
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
