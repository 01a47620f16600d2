#if HummingbirdSupport
import HTTPTypes
import Hummingbird

/// Tells browsers to load nothing from elsewhere, to run no scripts but the server's own files, and to show the pages
/// in no frame. Errors of what comes after it are answered with these headers, too.
public struct SecurityHeaders<Context: RequestContext>: RouterMiddleware {
    private let headers: HTTPFields

    /// - Parameter isSecure: Whether the server is reached over TLS, which browsers then insist on for half a year.
    public init(isSecure: Bool = true) {
        var headers: HTTPFields = [
            .contentSecurityPolicy:
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
                + "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
            .referrerPolicy: "same-origin",
            .crossOriginOpenerPolicy: "same-origin",
            .crossOriginResourcePolicy: "same-origin",
            .permissionsPolicy: "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        ]
        if isSecure { headers[.strictTransportSecurity] = "max-age=15552000" }
        self.headers = headers
    }

    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as any HTTPResponseError {
            response = try error.response(from: request, context: context)
        }
        // A handler's own, for its page alone, stays.
        for field in headers where response.headers[field.name] == nil { response.headers[field.name] = field.value }
        return response
    }
}

extension HTTPField.Name {
    // Tokens of RFC 9110, as they stand here.
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    static let permissionsPolicy = HTTPField.Name("Permissions-Policy")!
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
}
#endif
