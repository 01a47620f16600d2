import Credentials
import Foundation
import FriendvatarsKit
import Hummingbird
import HummingbirdCore
import HummingbirdCredentials
import HummingbirdTLS
import Logging
import NIOCore

/// The app's pages, ready to be served.
public struct WebServer: Sendable {
    /// How it is served.
    public struct Options: Sendable {
        /// The address to listen at.
        public var host = "127.0.0.1"
        /// The port; 0 for any that is free.
        public var port = 8443
        /// The key and certificate for TLS; nil without TLS, for this machine alone or behind a proxy that has TLS.
        public var tls: TLSIdentity?
        /// Whether a proxy that has TLS is in front, which says in `X-Forwarded-For` where a request comes from.
        public var isBehindProxy = false
        /// Seconds for a whole request to come in, 1 to 3,600; an answer has six times as long to be taken.
        public var patience = 20
        /// Whether other machines reach the server, by a name: browsers are told to insist on TLS for it. Not for
        /// `localhost`, which other programs serve, too.
        public var isForOthers = false
        /// The most connections at a time, a quarter of them from one address unless a proxy is in front.
        public var connections = 1_000

        /// As they stand.
        public init() {}
    }

    let app: FriendvatarsApp
    let options: Options
    let logger: Logger

    /// - Parameters:
    ///   - app: What is shown.
    ///   - options: How it is served.
    ///   - logger: Told of errors; never of names, addresses or tokens.
    public init(_ app: FriendvatarsApp, options: Options, logger: Logger) {
        (self.app, self.options, self.logger) = (app, options, logger)
    }

    /// The routes, and what each request passes before it gets to one.
    public func router() throws -> Router<AppContext> {
        let router = Router(context: AppContext.self, options: .autoGenerateHeadEndpoints)
        // Browsers take addresses on the machine itself for safe, so cookies are for safe connections in any case.
        let (cookie, tokens) = (SessionCookie(), FormTokens(key: try ServerKey.forms.load()))
        let pages = try Pages(tokens: tokens)
        router.add(
            middleware: SecurityHeaders(isSecure: options.tls != nil && options.isForOthers || options.isBehindProxy))
        router.add(middleware: ErrorPages(pages: pages))
        router.add(middleware: ClientAddress(isBehindProxy: options.isBehindProxy))
        router.add(middleware: SessionMiddleware(tokens: app.sessions, cookie: cookie, lifetime: SignInRoutes.lifetime))
        router.add(middleware: FormMiddleware(tokens: tokens))
        StaticRoutes(pages: pages).add(to: router)
        let device = SessionCookie(name: "device")
        SignInRoutes(app: app, pages: pages, cookie: cookie, device: device).add(to: router)
        let signedIn = router.group().add(middleware: SignInRequired(redirectingTo: "/sign-in"))
        FriendRoutes(app: app, pages: pages).add(to: signedIn)
        AccountRoutes(app: app, pages: pages, cookie: cookie, device: device).add(to: signedIn)
        AvatarRoutes(app: app).add(to: signedIn)
        return router
    }

    /// Serves until the task is canceled or the program is told to end.
    ///
    /// - Parameter onRunning: Told the port once there is one.
    public func run(onRunning: @escaping @Sendable (Int) async -> Void = { _ in }) async throws {
        let (seconds, limit) = (Int64(min(3_600, max(1, options.patience))), 64 << 10)
        let places = ConnectionLimit.Counts(
            limit: options.isBehindProxy ? options.connections : max(1, options.connections / 4))
        let http = HTTPServerBuilder.http1(
            configuration: .init(additionalChannelHandlers: [
                ConnectionLimit(places),
                RequestDeadline(time: .seconds(seconds), answerTime: .seconds(6 * seconds), limit: limit),
            ]))
        let server = try options.tls.map { try HTTPServerBuilder.tls(http, tlsConfiguration: $0.configuration) } ?? http
        let application = Application(
            router: try router(), server: server,
            configuration: .init(
                address: .hostname(options.host, port: options.port),
                availableConnectionsDelegate: MaximumAvailableConnections(options.connections, logger: logger)),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) },
            logger: logger)
        try await application.runService()
    }
}
