import Foundation
import HTTPTypes
import Hummingbird

/// Finds out which machine a request comes from.
struct ClientAddress: RouterMiddleware {
    /// Whether the connection comes from a proxy of one's own. Its word counts then, and nobody's else: what was in the
    /// header before, it has got from the client.
    let isBehindProxy: Bool

    func handle(
        _ request: Request, context: AppContext, next: (Request, AppContext) async throws -> Response
    ) async throws -> Response {
        guard isBehindProxy else { return try await next(request, context) }
        var context = context
        let hops = request.headers[values: .xForwardedFor].joined(separator: ",").split(separator: ",")
        if let last = hops.last { context.client = last.trimmingCharacters(in: .whitespaces) }
        return try await next(request, context)
    }
}

extension HTTPField.Name {
    /// A token of RFC 9110, as it stands here.
    fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
}
