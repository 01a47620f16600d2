import Bytes
import FoundationEssentials
import StoredKeys

/// A login at a service that hands out access tokens for a refresh token (OAuth 2.0, RFC 6749), as the value of an item
/// keeps it. Documentation/Specify/Formats/Logins.md is its specification.
package struct StoredLogin: Sendable {
    /// The service of the items that are logins. The account is the login's name.
    package static let service = KeyPurpose.loginService
    /// Of the layout. A login of a later one is refused.
    package static let version = 1
    /// Attempts have lower numbers: each program reads these as they are.
    private static let attempts: Int64 = 1 << 53
    /// In seconds since 1970. Times are earlier, and can be counted on.
    package static let latest: Int64 = 1 << 40
    /// Ten years, in seconds.
    package static let longestLifetime: Int64 = 315_360_000

    /// How the client shows who it is (RFC 6749, 2.3.1).
    package enum ClientAuthentication: String, Codable, Sendable, CaseIterable {
        /// It has no secret, and only says its name.
        case none
        /// With HTTP Basic.
        case basic
        /// With members of the form.
        case post
    }

    /// An access token, and what is known of it.
    package struct Access: Codable, Sendable, Equatable {
        package var token: HeldSecret
        /// The number of the attempt that got it.
        package var attempt: Int64
        /// When it came, in seconds since 1970.
        package var issued: Int64
        /// For how many seconds it was good then; nil if the server did not say.
        package var lifetime: Int64?

        package init(token: HeldSecret, attempt: Int64, issued: Int64, lifetime: Int64?) {
            (self.token, self.attempt, self.issued, self.lifetime) = (token, attempt, issued, lifetime)
        }
    }

    /// How the last attempt failed.
    package struct Failure: Codable, Sendable, Equatable {
        package var attempt: Int64
        /// In seconds since 1970.
        package var time: Int64
        /// In words for a person, without a secret.
        package var reason: String
        /// Whether the server says that the refresh token is not good any more (`invalid_grant`).
        package var isEnd: Bool

        package init(attempt: Int64, time: Int64, reason: String, isEnd: Bool) {
            (self.attempt, self.time, self.reason, self.isEnd) = (attempt, time, reason, isEnd)
        }
    }

    /// The URL of the token endpoint.
    package var endpoint: String
    /// The IP address to dial for it; nil for what the system's resolver says.
    package var address: String?
    /// Certificates in PEM that are trusted beside those of the system; nil for none.
    package var authorities: String?
    package var client: String
    package var clientSecret: HeldSecret?
    package var authentication: ClientAuthentication
    /// What is asked for; nil for what the login was given for.
    package var scope: String?
    package var refreshToken: HeldSecret
    /// The refresh token that was given for the present one. It is tried if a person says so.
    package var previousRefreshToken: HeldSecret?
    package var access: Access?
    /// The number of the last attempt to get an access token. Each program that waits knows by it for which one.
    package var attempt: Int64
    /// Who refreshes now; nil for nobody.
    package var lease: LoginLease?
    package var failure: Failure?
    /// When a request went out to which no answer was kept, in seconds since 1970, the first since the last success.
    package var unanswered: Int64?

    package init(
        endpoint: String, client: String, authentication: ClientAuthentication, refreshToken: HeldSecret,
        attempt: Int64 = 0
    ) {
        (self.endpoint, self.client, self.authentication) = (endpoint, client, authentication)
        (self.refreshToken, self.attempt) = (refreshToken, attempt)
    }
}

extension StoredLogin: Codable {
    private enum Keys: String, CodingKey {
        case version, endpoint, address, authorities, client
        case clientSecret = "client_secret"
        case authentication, scope
        case refreshToken = "refresh_token"
        case previousRefreshToken = "previous_refresh_token"
        case access, attempt, lease, failure, unanswered
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.version else { throw Problem.version(version) }
        endpoint = try values.decode(String.self, forKey: .endpoint)
        address = try values.decodeIfPresent(String.self, forKey: .address)
        authorities = try values.decodeIfPresent(String.self, forKey: .authorities)
        client = try values.decode(String.self, forKey: .client)
        clientSecret = try values.decodeIfPresent(HeldSecret.self, forKey: .clientSecret)
        authentication = try values.decode(ClientAuthentication.self, forKey: .authentication)
        scope = try values.decodeIfPresent(String.self, forKey: .scope)
        refreshToken = try values.decode(HeldSecret.self, forKey: .refreshToken)
        previousRefreshToken = try values.decodeIfPresent(HeldSecret.self, forKey: .previousRefreshToken)
        access = try values.decodeIfPresent(Access.self, forKey: .access)
        attempt = try values.decode(Int64.self, forKey: .attempt)
        lease = try values.decodeIfPresent(LoginLease.self, forKey: .lease)
        failure = try values.decodeIfPresent(Failure.self, forKey: .failure)
        unanswered = try values.decodeIfPresent(Int64.self, forKey: .unanswered)
        guard isInBounds else { throw Problem.damaged }
    }

    /// Whether its numbers are such as can be counted on.
    private var isInBounds: Bool {
        guard (0..<Self.attempts).contains(attempt) else { return false }
        let attempts = [access?.attempt, failure?.attempt].compactMap(\.self)
        let times = [access?.issued, failure?.time, unanswered, lease?.time].compactMap(\.self)
        return attempts.allSatisfy { (0...attempt).contains($0) }
            && times.allSatisfy { (0..<Self.latest).contains($0) }
            && (0...Self.longestLifetime).contains(access?.lifetime ?? 0)
    }

    /// The number of the next attempt; nil if it would be more than a reader takes.
    package var nextAttempt: Int64? { attempt < Self.attempts - 1 ? attempt + 1 : nil }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(endpoint, forKey: .endpoint)
        try values.encodeIfPresent(address, forKey: .address)
        try values.encodeIfPresent(authorities, forKey: .authorities)
        try values.encode(client, forKey: .client)
        try values.encodeIfPresent(clientSecret, forKey: .clientSecret)
        try values.encode(authentication, forKey: .authentication)
        try values.encodeIfPresent(scope, forKey: .scope)
        try values.encode(refreshToken, forKey: .refreshToken)
        try values.encodeIfPresent(previousRefreshToken, forKey: .previousRefreshToken)
        try values.encodeIfPresent(access, forKey: .access)
        try values.encode(attempt, forKey: .attempt)
        try values.encodeIfPresent(lease, forKey: .lease)
        try values.encodeIfPresent(failure, forKey: .failure)
        try values.encodeIfPresent(unanswered, forKey: .unanswered)
    }

    /// Why a value is no login.
    package enum Problem: Error, Equatable {
        case damaged
        /// Of a later version of this program.
        case version(Int)
    }

    /// Reads the value of an item.
    package init(value: Data) throws(Problem) {
        do {
            self = try JSONDecoder().decode(StoredLogin.self, from: value)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .damaged
        }
    }

    /// As the value of an item, in memory that is wiped.
    ///
    /// - Throws: ``Problem/damaged`` if no reader would take it.
    package func value() throws -> Data {
        guard isInBounds else { throw Problem.damaged }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .wipedWhenFreed(try encoder.encode(self))
    }
}

extension StoredLogin {
    /// What a program asks of an access token.
    package struct Need: Codable, Sendable, Equatable {
        /// For how many more seconds it has to be good.
        package var seconds: Int64
        /// The number of the attempt whose token a server refused; nil for none.
        package var refused: Int64?
        /// Whether the refresh token before the present one is used, because a person says so.
        package var isPrevious = false
        /// Whether the server is asked also if it said before that the login has ended, because a person says so.
        package var isInsisting = false

        package init(seconds: Int64 = usualNeed, refused: Int64? = nil) {
            (self.seconds, self.refused) = (seconds, refused)
        }
    }

    /// A request takes a moment, and clocks differ.
    package static let usualNeed: Int64 = 60

    /// The access token, if it is good enough.
    ///
    /// - Parameters:
    ///   - now: In seconds since 1970.
    ///   - known: The number of the last attempt when the program began to ask. What came later is as fresh as there
    ///     is, also if it is good for a shorter time.
    package func access(for need: Need, now: Int64, since known: Int64) -> Access? {
        guard let access, access.attempt > need.refused ?? -1 else { return nil }
        return access.attempt > known || access.isGood(for: need.seconds, now: now) ? access : nil
    }
}

extension StoredLogin.Access {
    /// When it ends, in seconds since 1970; nil if nobody knows.
    package var end: Int64? { LoginToken(self).end }

    /// Whether it is good for so many more seconds.
    package func isGood(for seconds: Int64, now: Int64) -> Bool { LoginToken(self).isGood(for: seconds, now: now) }
}

/// A secret that is written as text in JSON.
package struct HeldSecret: Codable, Sendable, Equatable {
    package let bytes: SecretBytes

    package init(_ bytes: SecretBytes) { self.bytes = bytes }

    package init(from decoder: any Decoder) throws {
        bytes = try SecretBytes(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }
}
