import Bytes
import FoundationEssentials

/// What an authorization server answers to a request for a token (RFC 6749, 5).
package struct TokenAnswer: Sendable {
    /// The access token; nil if there is none that can be used.
    package var access: HeldSecret?
    /// In seconds; nil if the server did not say.
    package var lifetime: Int64?
    /// The next refresh token; nil if the present one stays.
    package var refresh: HeldSecret?
    /// Whether the server may have given a refresh token that cannot be kept. The present one may be used up.
    package var isLoss = false
    /// Why there is no access token or no refresh token that can be kept, in words for a person and without a secret.
    package var reason: String?
    /// The server's word for the error, such as `invalid_grant`.
    package var error: String?

    /// Whether the server says that the refresh token is not good any more.
    package var isEnd: Bool { error == "invalid_grant" }

    /// In bytes, of a body.
    package static let longest = 1 << 20
    /// In bytes, of a token.
    private static let longestToken = 64 << 10
    /// In bytes. Shorter ones are not hidden in answers.
    private static let shortestToken = 8

    /// Each member is read by itself: one that is not as it should be must not take the refresh token along.
    private struct Body: Decodable {
        private enum Keys: String, CodingKey {
            case access = "access_token"
            case type = "token_type"
            case lifetime = "expires_in"
            case refresh = "refresh_token"
            case error
            case description = "error_description"
        }

        var access: String?
        /// Whether the access token can be used as a Bearer token (RFC 6750).
        var isBearer: Bool
        var lifetime: Int64?
        var refresh: String?
        /// Whether there is a refresh token, also one that is no text.
        var hasRefresh: Bool
        var error: String?
        var description: String?

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Keys.self)
            func text(_ key: Keys) -> String? { try? values.decode(String.self, forKey: key) }
            func isThere(_ key: Keys) -> Bool {
                values.contains(key) && (try? values.decodeNil(forKey: key)) != true
            }
            (access, refresh) = (text(.access), text(.refresh))
            (error, description) = (text(.error), text(.description))
            isBearer = !isThere(.type) || text(.type)?.lowercased() == "bearer"
            lifetime = (try? values.decode(Seconds.self, forKey: .lifetime))?.value
            // Some servers write an empty text for none.
            hasRefresh = isThere(.refresh) && refresh != ""
        }
    }

    /// A number, which some servers write as text.
    private struct Seconds: Decodable {
        var value: Int64?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                value = Int64(clamping: number.rounded(.down))
            } else {
                value = (try? container.decode(String.self)).flatMap { Int64($0) }
            }
        }
    }

    /// - Parameters:
    ///   - secrets: What no reason may repeat.
    ///   - host: The server's, for the reasons.
    package init(status: Int, body: [UInt8], from host: String, hiding secrets: [SecretBytes]) {
        let read = try? JSONDecoder().decode(Body.self, from: Data(body))
        // RFC 6749 has 200 alone, but whatever has worked may have used the refresh token up.
        guard Self.isSuccess(status) else {
            (error, reason) = Self.refusal(status, read, host, secrets)
            return
        }
        guard let read else {
            reason = "\(host) answers with something else than the JSON of RFC 6749"
            isLoss = true
            return
        }
        // It is kept even if there is nothing else: the one before may be used up.
        refresh = read.refresh.flatMap { Self.token($0, least: 1) }
        isLoss = read.hasRefresh && refresh == nil
        takeAccess(read, status, host, secrets)
        guard isLoss else { return }
        reason =
            (reason.map { $0 + "; and it" } ?? host)
            + " gave a refresh token that cannot be kept, because it is not 1 to \(Self.longestToken) characters of "
            + "printable ASCII: the one before is used again"
    }

    private mutating func takeAccess(_ read: Body, _ status: Int, _ host: String, _ secrets: [SecretBytes]) {
        lifetime = read.lifetime.map { max(0, min($0, StoredLogin.longestLifetime)) }
        guard let text = read.access, let token = Self.token(text, least: Self.shortestToken) else {
            (error, reason) = Self.refusal(status, read, host, secrets)
            return
        }
        guard read.isBearer else {
            reason = "\(host) gives an access token of another type than Bearer, which is not supported"
            return
        }
        access = token
    }

    private static func isSuccess(_ status: Int) -> Bool { (200..<300).contains(status) }

    /// RFC 6749, appendices A.12 and A.17: printable ASCII. A space would end an access token in a header.
    static func token(_ text: String, least: Int) -> HeldSecret? {
        guard (least...longestToken).contains(text.utf8.count),
            text.utf8.allSatisfy({ (least > 1 ? 0x21 : 0x20)...0x7E ~= $0 })
        else { return nil }
        return (try? SecretBytes(text)).map(HeldSecret.init)
    }

    private static func refusal(
        _ status: Int, _ body: Body?, _ host: String, _ secrets: [SecretBytes]
    ) -> (error: String?, reason: String) {
        if (300..<400).contains(status) {
            return (
                nil,
                "\(host) answers with a redirect, which a token request never follows: give the address of the token "
                    + "endpoint itself"
            )
        }
        guard let error = body?.error.flatMap({ plain($0, secrets) }) else {
            return (
                nil,
                isSuccess(status)
                    ? "\(host) answers without an access token" : "\(host) answers with the status \(status)"
            )
        }
        let said = body?.description.flatMap { plain($0, secrets) }.map { " (\($0))" } ?? ""
        let words =
            switch error {
            case "invalid_grant":
                "says that the login has ended: it expired, was taken back, or its token was used twice"
            case "invalid_client": "does not take the client's name or secret"
            case "unauthorized_client": "does not allow this client to refresh tokens"
            case "invalid_scope": "does not give this scope"
            case "unsupported_grant_type": "knows no refresh tokens: look at the address of the token endpoint"
            case "temporarily_unavailable", "server_error": "has a problem of its own: try again later"
            case "slow_down": "was asked too often: try again later"
            case "access_denied": "says that the log-in was not allowed"
            case "expired_token": "says that nobody allowed the log-in in time"
            default: "refuses"
            }
        return (error, "\(host) \(words): \(error)\(said)")
    }

    /// A text of the server if it can be shown: a server may repeat what it got.
    private static func plain(_ text: String, _ secrets: [SecretBytes]) -> String? {
        guard !text.isEmpty, text.utf8.count <= 300, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            var mask = try? AnswerMask(secrets)
        else { return nil }
        var text = text
        let masked = text.withUTF8 { mask.take(UnsafeRawBufferPointer($0)) } + mask.finish()
        return String(decoding: masked, as: UTF8.self)
    }
}
