import Access
import Broker
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import Synchronization
import SystemLibraries
import VaultInterface

/// Does for the broker what takes the vault: records what happens with requests, and asks a person before a secret goes
/// out for the first time.
final class BrokerWitness: Sendable {
    private let session: VaultSession
    private let process: BrokerProcess
    private let program: String
    private let rules: [(rule: BrokerRule, item: AuditQuery.Item)]
    /// The secrets of rules that ask first, by the number of the rule.
    private let held: [Int: SecretBytes]
    private let renewal: TokenRenewal?

    private struct State {
        var told: Set<String> = []
        var isRecordingLost = false
        var summary = RequestSummary()
        /// Requests without a secret leave room for those with one.
        var uses = RecordAllowance()
        var others = RecordAllowance()
    }

    private let state = Mutex(State())

    /// What is told of requests that were refused, in lines. All of them are in the audit log.
    private static let mostTold = 20

    init(
        _ process: BrokerProcess, _ session: VaultSession, program: String,
        rules: [(rule: BrokerRule, item: AuditQuery.Item)], held: [Int: SecretBytes],
        renewal: TokenRenewal? = nil
    ) {
        self.process = process
        self.session = session
        self.program = program
        self.rules = rules
        self.held = held
        self.renewal = renewal
    }

    func take(_ message: BrokerMessage) {
        switch message {
        case .record(let request): record(request)
        case .wanted(let number, let purpose):
            // Requests that want no answer of a person go on meanwhile.
            let isStarted = DetachedThread.start("question") { [self] in
                process.send(.value(number, isAllowed(purpose) ? held[number] : nil))
            }
            if !isStarted { process.send(.value(number, nil)) }
        case .renew(let number, let attempt):
            let isStarted = DetachedThread.start("token") { [self] in
                process.send(renewal.answer(number, attempt))
            }
            if !isStarted { process.send(.renewed(RenewedToken(rule: number), nil)) }
        case .failed(let reason): CommandNote.show("keychain-broker failed: \(reason)".escapedForTerminal)
        case .start, .value, .call, .cancel, .renewed, .ready, .answer: break
        }
    }

    private func record(_ request: BrokeredRequest) {
        var request = request
        request.program = program
        let listed = state.withLock { state in
            state.summary.count(request)
            let isUse = request.outcome == .placed || request.outcome == .stray
            return isUse ? state.uses.take(request) : state.others.take(request)
        }
        tell(request)
        if let listed { write(listed) }
    }

    /// Records what was only counted, at the end.
    func finish() {
        for rest in state.withLock({ [$0.uses.finish(), $0.others.finish()] }) { if let rest { write(rest) } }
    }

    private func write(_ request: BrokeredRequest) {
        let items = rules.filter { request.secrets.contains($0.rule.variable) }.map(\.item)
        do {
            try session.perform(RecordRequest(request, items: items))
        } catch {
            let isFirst = state.withLock { state in
                defer { state.isRecordingLost = true }
                return !state.isRecordingLost
            }
            if isFirst {
                CommandNote.show("requests are not in the audit log: \(Failure(error).message)".escapedForTerminal)
            }
        }
    }

    /// What became of all requests, in lines.
    var summary: [String] {
        let summary = state.withLock(\.summary)
        return summary.lines(of: rules.map(\.rule.variable)).map(\.escapedForTerminal)
    }

    /// Says what did not go as the program expects, each thing once.
    private func tell(_ request: BrokeredRequest) {
        guard let reason = request.reason else { return }
        let names = request.secrets.isEmpty ? "" : "\(request.secrets.joined(separator: ", ")): "
        let line = "\(names)\(request.method ?? "connection") to \(request.host), port \(request.port): \(reason)"
        let isNew = state.withLock { $0.told.count < Self.mostTold && $0.told.insert(line).inserted }
        if isNew { CommandNote.show(line.escapedForTerminal) }
    }

    /// Asks a person.
    private func isAllowed(_ purpose: String) -> Bool {
        // The program chose a part of the text.
        let purpose = String(purpose.escapedForTerminal.prefix(200))
        let name = program.escapedForTerminal
        do {
            let options = AuthenticationOptions(prompt: "let '\(name)' \(purpose)")
            _ = try session.perform(Authenticate(.userPresence, context: UUID(), options: options))
            return true
        } catch {
            CommandNote.show("'\(name)' may not \(purpose): \(Failure(error).message)".escapedForTerminal)
            return false
        }
    }
}
