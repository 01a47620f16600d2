import Broker
import Bytes
import CommandKit
import Dispatch
import StatusCodes
import Synchronization

/// One request to the server of a login, which a `keychain-broker` of its own makes. It reaches that server alone.
struct TokenCall {
    let host: String
    private let login: StoredLogin
    private let seconds: Int

    /// - Parameter seconds: After which the request ends.
    init(_ login: StoredLogin, seconds: Int) {
        self.login = login
        self.seconds = seconds
        host = (try? BrokerDestination(login.endpoint))?.host ?? "the server"
    }

    /// - Parameter url: At the same server; nil for the token endpoint.
    /// - Returns: The answer, and its body.
    func make(_ request: TokenRequest, to url: String? = nil) throws -> (BrokerAnswer, [UInt8]) {
        var server = try Self.server(login.endpoint)
        server.address = login.address
        let broker = try BrokerProcess(isIsolated: false)
        defer { broker.end() }
        let settings = BrokerSettings(
            rules: [], others: .inspect, authorities: login.authorities ?? "", certificates: "", isProxy: false,
            pinned: server)
        _ = try broker.begin(BrokerStart(settings: settings, secrets: []))
        let state = Answer()
        try broker.follow { message in
            if case .answer(let answer, let body) = message { state.take(answer, body) }
        } end: {
            state.done.signal()
        }
        let body = request.body.withUnsafeBytes { Array($0) }
        broker.send(
            .call(
                BrokerCall(
                    number: 1, method: "POST", url: url ?? login.endpoint, headers: request.headers,
                    longest: TokenAnswer.longest, seconds: seconds), body))
        // Beyond the time of the call, which the broker watches.
        _ = state.done.wait(timeout: .now() + .seconds(seconds + 5))
        guard let answer = state.answer else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other, "keychain-broker ended, or does not answer")
        }
        return answer
    }

    /// What came of the request.
    private final class Answer: Sendable {
        let done = DispatchSemaphore(value: 0)
        private let state = Mutex<(BrokerAnswer, [UInt8])?>(nil)

        var answer: (BrokerAnswer, [UInt8])? { state.withLock(\.self) }

        func take(_ answer: BrokerAnswer, _ body: [UInt8]) {
            state.withLock { $0 = (answer, body) }
            done.signal()
        }
    }

    /// The server of a token endpoint.
    static func server(_ endpoint: String) throws(Failure) -> BrokerDestination {
        do throws(BrokerRule.Problem) {
            return try BrokerDestination(endpoint)
        } catch {
            throw Failure.usage("the token endpoint \(error.description)".escapedForTerminal)
        }
    }
}
