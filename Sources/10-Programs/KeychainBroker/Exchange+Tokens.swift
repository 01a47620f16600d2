#if HTTPClientSupport
import Access
import Broker

/// A server refused the access token of a login.
struct TokenRefused: Error {}

extension Exchange {
    /// Carries a request, and once more with a new access token if the server answers that it does not take the one
    /// that the request had (401).
    ///
    /// A request with a body is not sent again: its body has gone. The next one has the new token.
    func carryWithFreshTokens(
        _ outgoing: Outgoing, _ target: BrokerRequest, _ uri: String, _ account: inout Account, _ answers: Answers
    ) async throws {
        let variables = account.record.outcome == .placed ? account.record.secrets : []
        account.isRepeatable = !request.hasBody && broker.secrets.hasTokens(variables)
        do {
            try await carry(outgoing, target, &account, answers)
        } catch is TokenRefused {
            account.isRepeatable = false
            _ = await broker.secrets.renewRefused(variables)
            try Task.checkCancellation()
            // Without another token, the program gets the server's own answer.
            let again = try await prepare(target, uri, &account.record, answers)
            return try await carry(again, target, &account, answers)
        }
        if request.hasBody, account.record.status == 401, broker.secrets.hasTokens(variables) {
            _ = await broker.secrets.renewRefused(variables)
        }
    }
}
#endif
