import SystemBus
import VaultInterface

/// A program's connection with no bus in between.
struct SecretConnection {
    let peer: BusPeer
    let client: SecretClient
    let hub: SecretHub
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
                for message in client.mailbox.takeAll() {
                    switch message {
                    case .signal(let signal), .awaited(let signal): try peer.emit(signal)
                    case .lockChange: break
                    }
                }
                for signal in client.due(now: .now) { try peer.emit(signal) }
                waits()
                switch try peer.next(until: client.deadline, wake: client.mailbox.descriptor, admit: admit) {
                case .call(let call):
                    works()
                    try peer.answer(call, with: answer)
                case .answered: _ = try? client.counted { SecretAnswer() }
                case .signal, .pause: break
                case .end: return
                }
            }
        } catch {
            // The program no longer reads, or is gone.
        }
    }

    private func answer(_ call: BusRequest) throws -> SecretAnswer {
        guard call.interface == "org.freedesktop.DBus" else { return try client.answer(call) }
        return try client.counted {
            if call.member == "AddMatch" { try client.listen() }
            return SecretAnswer(values: try BusNames.answer(call))
        }
    }
}

extension BusPeer {
    func answer(_ call: BusCall, with answer: (BusRequest) throws -> SecretAnswer) throws(BusError) {
        try reply(to: call, with: SecretAnswer.result { try answer(call.request) })
    }

    func reply(to call: BusCall, with result: Result<SecretAnswer, SecretServiceError>) throws(BusError) {
        switch result {
        case .success(let answer): try reply(to: call, answer.values, isSecret: answer.isSecret)
        case .failure(let failure): try refuse(call, failure.name, failure.message)
        }
    }
}

extension SecretAnswer {
    static func result(_ body: () throws -> SecretAnswer) -> Result<SecretAnswer, SecretServiceError> {
        do {
            return .success(try body())
        } catch {
            return .failure(SecretServiceError(error))
        }
    }
}
