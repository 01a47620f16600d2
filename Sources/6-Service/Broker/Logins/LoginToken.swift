import Bytes
import FoundationEssentials

/// What the broker knows of an access token of a login, beside the token.
package struct LoginToken: Codable, Sendable, Equatable {
    /// The number of the attempt that got it.
    package var attempt: Int64
    /// When it came, in seconds since 1970.
    package var issued: Int64
    /// In seconds; nil if the server did not say.
    package var lifetime: Int64?

    package init(_ access: StoredLogin.Access) {
        (attempt, issued, lifetime) = (access.attempt, access.issued, access.lifetime)
    }

    /// When it ends, in seconds since 1970; nil if nobody knows.
    package var end: Int64? { lifetime.map { issued.addingReportingOverflow($0).partialValue } }

    /// Whether it is to be renewed before it goes out.
    package func isStale(now: Int64) -> Bool { !isGood(for: StoredLogin.usualNeed, now: now) }

    /// Whether a server would refuse it.
    package func isOver(now: Int64) -> Bool { !isGood(for: 0, now: now) }

    /// Whether it is good for so many more seconds. A token that never was good for so long has to be good for half of
    /// its life: it would be renewed for each request otherwise.
    func isGood(for seconds: Int64, now: Int64) -> Bool {
        guard let lifetime, let end else { return true }
        // The clock was set back, and says nothing about the end.
        guard now >= issued - 60 else { return false }
        return end - now > (seconds < lifetime ? seconds : lifetime / 2)
    }
}

/// The answer to the broker that asks for another access token, without the token.
package struct RenewedToken: Codable, Sendable {
    /// The number of the rule.
    package var rule: Int
    /// Nil if there is none.
    package var token: LoginToken?
    /// Why there is none.
    package var reason: String?

    package init(rule: Int, token: LoginToken? = nil, reason: String? = nil) {
        (self.rule, self.token, self.reason) = (rule, token, reason)
    }
}
