import Credentials
import Foundation
import FriendvatarsKit
import Hummingbird
import Logging
import NIOHTTP1

/// Answers errors with pages, which say what to do and nothing about the server.
struct ErrorPages: RouterMiddleware {
    let pages: Pages

    struct Page: Sendable {
        let title: String
        let text: String
    }

    func handle(
        _ request: Request, context: AppContext, next: (Request, AppContext) async throws -> Response
    ) async throws -> Response {
        let response = try await answer(request, context, next)
        // What has a body tells of it, and sends none (RFC 9110, section 9.3.2).
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request, _ context: AppContext, _ next: (Request, AppContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            var response = try page(error.status, (error as? HTTPError)?.body)
            for field in (error as? HTTPError)?.headers ?? [:] { response.headers[field.name] = field.value }
            return response
        } catch is AccountIsGone {
            return try page(.unauthorized, nil)
        } catch CredentialsError.Code.busy {
            var response = try page(.serviceUnavailable, nil)
            response.headers[.retryAfter] = "30"
            return response
        } catch let error as HTTPParserError {
            // The rest of the request was none: the server says so, and ends the connection.
            throw error
        } catch {
            // The kind of error alone: its text could have an address in it.
            context.logger.error(
                "request failed", metadata: ["error": "\(type(of: error))", "path": "\(context.endpointPath ?? "?")"])
            return try page(.internalServerError, nil)
        }
    }

    private func page(_ status: HTTPResponse.Status, _ message: String?) throws -> Response {
        let text: (String, String) =
            switch status {
            case .badRequest: ("That was not understood", "The request was damaged. Please try again.")
            case .unauthorized: ("Please sign in", "You are not signed in, or no longer.")
            case .forbidden: ("That is not allowed", message ?? "Please load the page anew and try again.")
            case .notFound: ("Nothing here", "There is no page with this address.")
            case .methodNotAllowed: ("That is not possible", "This address is for something else.")
            case .contentTooLarge: ("That is too much", "What was sent is larger than any form here.")
            case .serviceUnavailable:
                ("Too much to do", "Many people are signing in right now. Please try again in a minute.")
            case .internalServerError: ("Something went wrong", "It is not your fault. Please try again later.")
            default: (status.reasonPhrase.isEmpty ? "Error \(status.code)" : status.reasonPhrase, "Please try again.")
            }
        return try pages.render(.error, Page(title: text.0, text: text.1), status: status)
    }
}
