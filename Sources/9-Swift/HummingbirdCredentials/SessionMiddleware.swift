#if HummingbirdSupport
import Credentials
import HTTPTypes
import Hummingbird

/// Finds out who has sent a request, by the token in a cookie, and puts newer tokens in its place.
///
/// ```swift
/// let router = Router(context: AppContext.self)
/// router.add(middleware: SessionMiddleware(tokens: tokens))
/// router.get("/") { _, context in "Good morning, \(context.signedIn?.account ?? "stranger")" }
/// ```
///
/// A token that is not valid is removed from the browser. If the store fails, the request fails: nobody counts as
/// signed in or out by mistake.
public struct SessionMiddleware<Context: SignInRequestContext>: RouterMiddleware {
    private let tokens: SessionTokens
    private let cookie: SessionCookie
    private let lifetime: Duration?

    /// - Parameters:
    ///   - tokens: Checks them.
    ///   - cookie: Where they are.
    ///   - lifetime: How long a browser keeps a newer token, in whole seconds; nil until it ends.
    public init(tokens: SessionTokens, cookie: SessionCookie = SessionCookie(), lifetime: Duration? = nil) {
        (self.tokens, self.cookie, self.lifetime) = (tokens, cookie, lifetime)
    }

    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.signedIn = nil
        guard let text = cookie.text(in: request), !text.isEmpty else { return try await next(request, context) }
        let visit = try await tokens.check(text)
        context.signedIn = visit.map { SignedIn(account: $0.account, begun: $0.begun, family: $0.family) }
        var response = try await next(request, context)
        // A handler that has signed somebody in or out has said what is in the cookie.
        guard !response.headers[values: .setCookie].contains(where: { $0.hasPrefix(cookie.name + "=") }) else {
            return response
        }
        if visit == nil {
            cookie.remove(from: &response)
        } else if let newer = visit?.newToken {
            cookie.set(newer, for: lifetime, in: &response)
            response.keepFromSharedCaches()
        }
        return response
    }
}

/// Refuses requests of people who are not signed in, and keeps the answers to the others out of caches, so that going
/// back in a browser after a sign-out shows nothing.
public struct SignInRequired<Context: SignInRequestContext>: RouterMiddleware {
    private let page: String?

    /// - Parameter page: Where the others are sent, such as `/sign-in`; nil for an error with status 401.
    public init(redirectingTo page: String? = nil) { self.page = page }

    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard context.signedIn != nil else {
            guard let page else { throw HTTPError(.unauthorized, headers: [.cacheControl: "no-store"]) }
            return Response(status: .seeOther, headers: [.location: page, .cacheControl: "no-store"])
        }
        var response = try await next(request, context)
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }
}

extension Response {
    /// One with a cookie for one browser must not be given to another, which a cache in between does with what it may
    /// store (RFC 9111, section 7.3).
    mutating func keepFromSharedCaches() {
        let said = headers[.cacheControl] ?? ""
        guard !said.contains("no-store"), !said.contains("private") else { return }
        headers[.cacheControl] = said.isEmpty ? "private" : said + ", private"
    }
}
#endif
