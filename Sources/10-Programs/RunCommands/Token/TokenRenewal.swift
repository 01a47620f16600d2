import Broker
import Bytes
import CommandKit

/// Gets other access tokens for a broker that needs them.
struct TokenRenewal: Sendable {
    /// By the numbers of the rules; nil for a rule that is about another secret.
    let logins: [LoginName?]
    let keeper: LoginKeeper

    /// - Parameter attempt: Of the token that the broker has.
    func renewed(_ number: Int, after attempt: Int64) -> BrokerMessage {
        guard logins.indices.contains(number), let login = logins[number] else {
            return .renewed(RenewedToken(rule: number), nil)
        }
        do throws(Failure) {
            let (token, secret) = try keeper.token(login, StoredLogin.Need(refused: attempt))
            return .renewed(RenewedToken(rule: number, token: token), secret)
        } catch {
            return .renewed(RenewedToken(rule: number, reason: error.message), nil)
        }
    }
}

extension TokenRenewal? {
    /// The answer to the broker, with no token where there are no logins.
    func answer(_ number: Int, _ attempt: Int64) -> BrokerMessage {
        self?.renewed(number, after: attempt) ?? .renewed(RenewedToken(rule: number), nil)
    }
}
