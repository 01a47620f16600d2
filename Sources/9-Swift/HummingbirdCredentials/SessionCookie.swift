#if HummingbirdSupport
import Bytes
import Credentials
import Hummingbird

/// The cookie that a session's token is in: for this host alone, kept from scripts, and not sent with what other sites
/// post.
public struct SessionCookie: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Whether browsers send it over TLS alone. They take an address on the machine itself, such as `http://localhost`,
    /// for safe as well.
    public let isSecure: Bool

    /// - Parameters:
    ///   - name: Its name, of letters, digits, `-` and `_`; others are left out. With `isSecure` it gets the prefix
    ///     `__Host-`, with which browsers take it from this host alone, over TLS (RFC 6265bis, section 4.1.3.2).
    ///   - isSecure: False for a server that is reached without TLS on other machines, which anybody in between can
    ///     then sign in to.
    public init(name: String = "session", isSecure: Bool = true) {
        self.name = (isSecure ? "__Host-" : "") + name.filter(Self.isPlain)
        self.isSecure = isSecure
    }

    /// The text of the cookie in a request; nil if there is none.
    public func text(in request: Request) -> String? { request.cookies[name]?.value }

    /// Gives a browser a token.
    ///
    /// - Parameters:
    ///   - lifetime: In whole seconds; nil until the browser ends.
    public func set(_ token: SessionToken, for lifetime: Duration? = nil, in response: inout Response) {
        response.setCookie(cookie(token.text, lifetime))
    }

    /// Gives a browser another text to show, such as one of `DeviceTokens`.
    ///
    /// - Parameters:
    ///   - text: Of letters, digits, `-` and `_`; others are left out.
    ///   - lifetime: In whole seconds; nil until the browser ends.
    public func set(_ text: String, for lifetime: Duration? = nil, in response: inout Response) {
        response.setCookie(cookie(text.filter(Self.isPlain), lifetime))
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "-" || character == "_")
    }

    /// Takes the token away from a browser.
    public func remove(from response: inout Response) { response.setCookie(cookie("", .zero)) }

    func cookie(_ value: String, _ lifetime: Duration?) -> Cookie {
        // Lax, not strict: who follows a link from a letter is signed in. What changes something is posted.
        Cookie(
            name: name, value: value, maxAge: lifetime.map { Int($0.components.seconds) }, path: "/", secure: isSecure,
            httpOnly: true, sameSite: .lax)
    }
}
#endif
