import Access
import Broker

/// What became of the requests of a run, by server.
struct RequestSummary: Sendable {
    private struct Server: Hashable {
        /// The variable whose secret it got; empty for none.
        var variable: String
        var outcome: BrokeredRequest.Outcome
        var name: String
        /// Whether it was a log-in at a database, and no request.
        var isLogIn = false
    }

    private var counts: [Server: Int] = [:]
    /// Servers are named by the program, which must not fill the memory with them.
    private static let mostServers = 1_000
    /// In one line.
    private static let mostNamed = 5
    private static let others = "other servers"

    mutating func count(_ request: BrokeredRequest) {
        let isUsual = request.port == 443 || request.port == 80
        let name = isUsual ? request.host : "\(request.host):\(request.port)"
        for variable in request.outcome == .placed ? request.secrets : [""] {
            var server = Server(
                variable: variable, outcome: request.outcome, name: name, isLogIn: request.method == "LOGIN")
            if counts[server] == nil, counts.count >= Self.mostServers { server.name = Self.others }
            counts[server, default: 0] += 1
        }
    }

    /// - Parameter variables: Those of the rules; one may be there twice.
    func lines(of variables: [String]) -> [String] {
        var lines: [String] = []
        var seen: Set<String> = []
        for variable in variables where seen.insert(variable).inserted {
            let before = lines.count
            for (isLogIn, verb) in [(false, "went to"), (true, "logged in at")] {
                let servers = servers(.placed, variable, isLogIn)
                if !servers.isEmpty { lines.append("\(variable) \(verb) \(Self.list(servers))") }
            }
            if lines.count == before { lines.append("\(variable) was not used") }
        }
        for (outcome, what) in [
            (BrokeredRequest.Outcome.refused, "refused"), (.failed, "failed"),
            (.stray, "with a placeholder where no rule has it"),
        ] {
            for (isLogIn, kind) in [(false, "requests"), (true, "log-ins")] {
                let servers = servers(outcome, "", isLogIn)
                if !servers.isEmpty { lines.append("\(kind) \(what): \(Self.list(servers))") }
            }
        }
        return lines
    }

    /// Those with the most requests first.
    private func servers(
        _ outcome: BrokeredRequest.Outcome, _ variable: String, _ isLogIn: Bool
    ) -> [(name: String, count: Int)] {
        counts.filter { $0.key.outcome == outcome && $0.key.variable == variable && $0.key.isLogIn == isLogIn }
            .map { (name: $0.key.name, count: $0.value) }
            .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    private static func list(_ servers: [(name: String, count: Int)]) -> String {
        let named = servers.prefix(mostNamed).map { "\($0.name) \($0.count == 1 ? "once" : "\($0.count) times")" }
        let rest = servers.count - named.count
        return (named + (rest > 0 ? ["\(rest) others"] : [])).joined(separator: ", ")
    }
}
