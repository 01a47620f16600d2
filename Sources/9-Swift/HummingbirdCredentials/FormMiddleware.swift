#if HummingbirdSupport
import Bytes
import Credentials
import Foundation
import HTTPTypes
import Hummingbird

/// A request's context that can make hidden fields for forms. ``FormMiddleware`` fills it in.
public protocol FormRequestContext: SignInRequestContext {
    /// What the forms of the answer are bound to; see ``FormMiddleware``.
    var formBinding: String { get set }
}

/// Lets requests that change something pass only if they come from a page of this server.
///
/// Three things are looked at, each of which stands for itself:
///
/// 1. `Sec-Fetch-Site`, which browsers send and pages cannot: it has to be `same-origin` or `none`. Without it,
///    `Origin` has to be the request's own host.
/// 2. The form: `application/x-www-form-urlencoded`, not more than `limit` bytes.
/// 3. Its field `form_token`, which is one of ``FormTokens`` for this sign-in; before a sign-in, for the cookie that
///    every visitor gets with a page that has a form.
///
/// Put it after ``SessionMiddleware``. Handlers decode the body as they would without it.
public struct FormMiddleware<Context: FormRequestContext>: RouterMiddleware {
    private let tokens: FormTokens
    private let cookie: SessionCookie
    private let limit: Int

    /// - Parameters:
    ///   - tokens: Makes the fields and checks them.
    ///   - isSecure: As with ``SessionCookie``.
    ///   - limit: The largest body, in bytes.
    public init(tokens: FormTokens, isSecure: Bool = true, limit: Int = 16_384) {
        (self.tokens, self.limit) = (tokens, limit)
        cookie = SessionCookie(name: "visitor", isSecure: isSecure)
    }

    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var (request, context) = (request, context)
        let visitor = cookie.text(in: request).flatMap { SessionToken($0) }
        let given = visitor ?? SessionToken()
        context.formBinding =
            context.signedIn.map { "sign-in \($0.family)" } ?? "visitor \(UnpaddedBase64.url.string(given.hash))"
        if request.method != .get && request.method != .head && request.method != .options {
            try await check(&request, context)
        }
        var response = try await next(request, context)
        // What a page is bound to has to come back with it.
        if visitor == nil, context.signedIn == nil, request.method == .get {
            cookie.set(given, in: &response)
            response.keepFromSharedCaches()
        }
        return response
    }

    private func check(_ request: inout Request, _ context: Context) async throws {
        guard Self.isFromHere(request) else { throw HTTPError(.forbidden, message: "The form came from another site.") }
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
        guard type?.trimmedInLine == "application/x-www-form-urlencoded" else {
            throw HTTPError(.unsupportedMediaType)
        }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw HTTPError(.contentTooLarge, headers: [.connection: "close"])
        }
        let body = try await request.collectBody(upTo: limit)
        let form = try? URLEncodedFormDecoder().decode(TokenField.self, from: String(buffer: body))
        guard let token = form?.form_token, tokens.isValid(token, for: context.formBinding) else {
            throw HTTPError(
                .forbidden,
                message: "The page is too old, or somebody signed in or out since. Load it anew and try again.")
        }
    }

    /// Whether the browser says that a page of this host sent the request, or no page did.
    static func isFromHere(_ request: Request) -> Bool {
        if let site = request.headers[.secFetchSite] { return site == "same-origin" || site == "none" }
        guard let origin = request.headers[.origin] else { return true }
        guard let authority = request.head.authority else { return false }
        return origin == "https://\(authority)" || origin == "http://\(authority)"
    }

    private struct TokenField: Decodable {
        var form_token: String
    }
}

extension FormTokens {
    /// The value of the hidden field `form_token` for a form in the answer to a request.
    public func field(for context: some FormRequestContext) -> String {
        make(for: context.formBinding)
    }
}

extension HTTPField.Name {
    /// Fetch Metadata (W3C), section 2.
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!  // A token of RFC 9110, as it stands here.
}
#endif
