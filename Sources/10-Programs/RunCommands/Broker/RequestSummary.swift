import Access
import Broker

/// What became of the requests of a run, by server.
struct RequestSummary: Sendable {
    private struct Server: Hashable {
        /// The variable whose secret it got; empty for none.
        var variable: String
        var outcome: BrokeredRequest.Outcome
        var name: String
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
            var server = Server(variable: variable, outcome: request.outcome, name: name)
            if counts[server] == nil, counts.count >= Self.mostServers { server.name = Self.others }
            counts[server, default: 0] += 1
        }
    }

    /// - Parameter variables: Those of the rules; one may be there twice.
    func lines(of variables: [String]) -> [String] {
        var lines: [String] = []
        var seen: Set<String> = []
        for variable in variables where seen.insert(variable).inserted {
            let servers = servers(.placed, variable)
            lines.append(
                servers.isEmpty
                    ? "\(variable) was not used"
                    : "\(variable) went to " + Self.list(servers) { "\($0) \($1 == 1 ? "once" : "\($1) times")" })
        }
        for (outcome, one, many) in [
            (BrokeredRequest.Outcome.refused, "was refused", "were refused"), (.failed, "failed", "failed"),
            (.stray, "had a placeholder where no rule has it", "had a placeholder where no rule has it"),
        ] {
            let servers = servers(outcome, "")
            guard !servers.isEmpty else { continue }
            let sum = servers.reduce(0) { $0 + $1.count }
            let text = Self.list(servers) { servers.count == 1 ? $0 : "\($0) (\($1))" }
            lines.append("\(sum) \(sum == 1 ? "request" : "requests") to \(text) \(sum == 1 ? one : many)")
        }
        return lines
    }

    /// Those with the most requests first.
    private func servers(_ outcome: BrokeredRequest.Outcome, _ variable: String) -> [(name: String, count: Int)] {
        counts.filter { $0.key.outcome == outcome && $0.key.variable == variable }
            .map { (name: $0.key.name, count: $0.value) }
            .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    private static func list(
        _ servers: [(name: String, count: Int)], _ text: (String, Int) -> String
    ) -> String {
        let named = servers.prefix(mostNamed).map { text($0.name, $0.count) }
        let rest = servers.count - named.count
        return (named + (rest > 0 ? ["\(rest) others"] : [])).joined(separator: ", ")
    }
}
