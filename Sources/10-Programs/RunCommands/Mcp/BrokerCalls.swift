import Broker
import Bytes
import CommandKit
import Dispatch
import StatusCodes
import Synchronization

/// Requests that the broker makes for an agent.
///
/// The secrets are looked up before the first of them: a host waits for its servers when it starts, and a person who is
/// asked then does not know what for.
final class BrokerCalls: Sendable {
    private struct Pending {
        var done: DispatchSemaphore
        var answer: (BrokerAnswer, [UInt8])?
    }

    private struct Begin {
        /// Nil after the broker has begun.
        var lookup: SecretLookup?
    }

    private struct State {
        var pending: [Int: Pending] = [:]
        var last = 0
        var isGone = false
        var host: String?
    }

    private let process: BrokerProcess
    private let brokered: BrokeredSecrets
    private let authorities: String
    private let begin: Mutex<Begin>
    private let state = Mutex(State())
    /// Beyond the time of a call itself: for the person who is asked.
    private static let patience = 300

    init(_ process: BrokerProcess, _ brokered: BrokeredSecrets, _ lookup: sending SecretLookup) throws {
        self.process = process
        self.brokered = brokered
        authorities = try brokered.authorities()
        begin = Mutex(Begin(lookup: lookup))
    }

    var rules: [BrokerRule] { brokered.rules.map(\.rule) }

    /// What an agent writes where the secret of a rule belongs.
    static func placeholder(_ variable: String) -> String { "{{\(variable)}}" }

    /// Notes the name that the agent's host gives itself, for the audit log and for questions to a person.
    func greet(_ name: String) { state.withLock { $0.host = String(name.prefix(64)) } }

    func end() { process.end() }

    /// Has the broker make a request.
    func make(_ given: BrokerCall, _ body: [UInt8], _ call: McpCall) throws -> (BrokerAnswer, [UInt8]) {
        try beginIfNeeded()
        let done = DispatchSemaphore(value: 0)
        let number: Int? = state.withLock { state in
            guard !state.isGone else { return nil }
            state.last += 1
            state.pending[state.last] = Pending(done: done)
            return state.last
        }
        guard let number else { throw Self.gone }
        var request = given
        request.number = number
        process.send(.call(request, body))
        call.whenCancelled { [process] in process.send(.cancel(number)) }
        _ = done.wait(timeout: .now() + .seconds(given.seconds + Self.patience))
        guard let answer = state.withLock({ $0.pending.removeValue(forKey: number) })?.answer else { throw Self.gone }
        return answer
    }

    private static let gone = Failure(
        status: errSecIO, exitCode: ExitStatus.other,
        "keychain-broker ended or does not answer: start this server again")

    private func beginIfNeeded() throws {
        try begin.withLock { begin in
            guard let lookup = begin.lookup else { return }
            lookup.expectLogins(in: brokered.rules.map(\.reference))
            let session = try lookup.quietSession()
            let (secrets, held) = try brokered.collect(lookup, session) { rule, _ in Self.placeholder(rule.variable) }
            let settings = BrokerSettings(
                rules: rules, others: brokered.others, authorities: authorities, certificates: "", isProxy: false)
            _ = try process.begin(BrokerStart(settings: settings, secrets: secrets))
            let host = state.withLock(\.host)
            let witness = BrokerWitness(
                process, session, program: host.map { "mcp \($0)" } ?? "mcp", rules: brokered.items, held: held,
                renewal: try brokered.renewal(lookup))
            try process.follow { [self] in
                take($0, witness)
            } end: { [self] in
                leave()
            }
            begin.lookup = nil
        }
    }

    private func take(_ message: BrokerMessage, _ witness: BrokerWitness) {
        guard case .answer(let answer, let body) = message else { return witness.take(message) }
        state.withLock { state in
            state.pending[answer.number]?.answer = (answer, body)
            state.pending[answer.number]?.done.signal()
        }
    }

    /// The broker is gone, and answers none of the calls any more.
    private func leave() {
        state.withLock { state in
            state.isGone = true
            for call in state.pending.values { call.done.signal() }
        }
    }
}
