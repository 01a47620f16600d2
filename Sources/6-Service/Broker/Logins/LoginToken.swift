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
    package var end: Int64? { lifetime.map { issued.adding($0) } }

    /// How old it is, in seconds; less than 0 if the clock was set back.
    package func age(now: Int64) -> Int64 { now.subtracting(issued) }

    /// Whether it is to be renewed before it goes out.
    package func isStale(now: Int64) -> Bool { !isGood(for: StoredLogin.usualNeed, now: now) }

    /// Whether a server would refuse it.
    package func isOver(now: Int64) -> Bool { !isGood(for: 0, now: now) }

    /// Whether it is good for so many more seconds. A token that never was good for so long has to be good for half of
    /// its life: it would be renewed for each request otherwise.
    func isGood(for seconds: Int64, now: Int64) -> Bool {
        guard let lifetime, let end else { return true }
        // The clock was set back, and says nothing about the end.
        guard age(now: now) >= -60 else { return false }
        return end.subtracting(now) > (seconds < lifetime ? seconds : lifetime / 2)
    }
}

/// Tokens come over sockets, and their numbers may be any.
extension Int64 {
    /// The sum, or the number next to it.
    fileprivate func adding(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return !isOver ? sum : other > 0 ? .max : .min
    }

    /// The difference, or the number next to it.
    fileprivate func subtracting(_ other: Int64) -> Int64 {
        let (difference, isOver) = subtractingReportingOverflow(other)
        return !isOver ? difference : other < 0 ? .max : .min
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
