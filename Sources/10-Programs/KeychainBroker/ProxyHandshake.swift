#if HTTPClientSupport
import Broker
import Bytes
import NIOCore
import NIOHTTP1
import NIOSSL

/// How a program's connection goes on after its first request.
enum ProxyConnection: Sendable {
    typealias Requests = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    /// On the channel's event loop.
    static func requests(over channel: any Channel) throws -> Requests {
        // The end of the answers is said, and the rest of them goes out, before the connection is closed.
        try Requests(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    /// Requests in clear text, each with its server's name.
    case clear(Requests)
    /// Requests to one server, over TLS.
    case secure(Requests, host: String, port: Int)
    /// Bytes to one server, which are not read. The proxy has not answered yet.
    case tunnel(host: String, port: Int, handshake: ProxyHandshake.Handle)
    /// It is to be refused, once that is recorded. Nil if there is nobody to tell.
    case refused(host: String, port: Int, reason: String, handshake: ProxyHandshake.Handle?)
    /// It is over.
    case closed
}

/// Reads the first request of a connection: it authenticates the program, and says what follows.
final class ProxyHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The handlers of HTTP below this one, which go when other bytes follow.
    struct Below {
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes))
        let encoder = ProxyHandshake.encoder()
        let errors = HTTPServerProtocolErrorHandler()
    }

    /// What the code outside of the event loop holds of it.
    struct Handle: Sendable {
        fileprivate let handshake: NIOLoopBound<ProxyHandshake>
        let channel: any Channel

        /// Says that the connection to the server stands, and passes bytes from now on.
        func join(_ server: any Channel) -> EventLoopFuture<Void> {
            channel.eventLoop.flatSubmit { handshake.value.join(server) }
        }

        func refuse(_ status: HTTPResponseStatus, _ reason: String) {
            channel.eventLoop.execute { handshake.value.refuse(status, reason) }
        }
    }

    /// Says where a message ends only where it is told to: an answer to CONNECT has no end.
    private static func encoder() -> HTTPResponseEncoder {
        var configuration = HTTPResponseEncoder.Configuration()
        configuration.automaticallySetFramingHeaders = false
        return HTTPResponseEncoder(configuration: configuration)
    }

    private let broker: RequestBroker
    private let below: Below
    private let outcome: EventLoopPromise<ProxyConnection>
    private var context: ChannelHandlerContext?
    private var connectHead: HTTPRequestHead?
    private var isDecided = false

    init(_ broker: RequestBroker, below: Below, outcome: EventLoopPromise<ProxyConnection>) {
        (self.broker, self.below, self.outcome) = (broker, below, outcome)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        decide(.closed)
    }

    func channelInactive(context: ChannelHandlerContext) {
        decide(.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        decide(.refused(host: "", port: 0, reason: "this is no request of HTTP/1.1 (\(error))", handshake: nil))
        context.close(promise: nil)
    }

    private func decide(_ connection: ProxyConnection) {
        guard !isDecided else { return }
        isDecided = true
        outcome.succeed(connection)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            guard connectHead == nil else { return }
            guard broker.isAuthentic(head) else {
                return refuse(
                    .proxyAuthenticationRequired, "this proxy serves the program that `keychain run` started",
                    [("Proxy-Authenticate", "Basic realm=\"keychain\"")])
            }
            broker.strangers.remove(context.channel)
            guard head.method == .CONNECT else { return begin(head, context) }
            connectHead = head
        case .end:
            if let head = connectHead, !isDecided { connect(head.uri) }
        case .body: break
        }
    }

    /// Hands clear requests on, of which this is the first.
    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        do {
            let requests = try ProxyConnection.requests(over: context.channel)
            decide(.clear(requests))
            context.fireChannelRead(Self.wrapInboundOut(.head(head)))
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    private func connect(_ authority: String) {
        guard let (host, port) = BrokerDestination.authority(authority, standard: nil) else {
            return refuse(.badRequest, "CONNECT takes HOST:PORT")
        }
        guard let context else { return }
        let handle = Handle(
            handshake: NIOLoopBound(self, eventLoop: context.eventLoop), channel: context.channel)
        switch broker.plan(host, port) {
        case .refuse(let reason):
            decide(.refused(host: host, port: port, reason: reason, handshake: handle))
        case .tunnel: decide(.tunnel(host: host, port: port, handshake: handle))
        case .inspect:
            let tls: NIOSSLContext
            do { tls = try broker.authority.context(for: host) } catch {
                return refuse(.internalServerError, "no certificate for \(host): \(error)")
            }
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            accept().whenSuccess { bound.value.inspect(host, port, tls) }
        }
    }

    /// Answers that the connection stands, and removes HTTP.
    private func accept() -> EventLoopFuture<Void> {
        guard let context else { return broker.group.any().makeFailedFuture(ChannelError.ioOnClosedChannel) }
        context.write(
            Self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok))), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        let operations = context.pipeline.syncOperations
        let removals = [
            operations.removeHandler(below.encoder), operations.removeHandler(below.errors),
        ]
        return EventLoopFuture.andAllSucceed(removals, on: context.eventLoop)
    }

    private func inspect(_ host: String, _ port: Int, _ tls: NIOSSLContext) {
        guard let context else { return }
        let operations = context.pipeline.syncOperations
        do {
            try operations.addHandler(NIOSSLServerHandler(context: tls))
            let below = Below()
            try operations.addHandlers([below.encoder, below.decoder, below.errors])
            try operations.addHandler(WebSocketOffer(broker, host, port, below: below))
            let requests = try ProxyConnection.requests(over: context.channel)
            decide(.secure(requests, host: host, port: port))
        } catch {
            context.close(promise: nil)
            return
        }
        operations.removeHandler(self, promise: nil)
        operations.removeHandler(below.decoder, promise: nil)
    }

    private func join(_ server: any Channel) -> EventLoopFuture<Void> {
        guard let context else {
            server.close(promise: nil)
            return server.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        return accept().flatMapThrowing {
            let (handshake, context) = bound.value
            let operations = context.pipeline.syncOperations
            let (own, other) = PassingHandler.pair()
            try operations.addHandler(own)
            operations.removeHandler(handshake, promise: nil)
            try server.pipeline.syncOperations.addHandler(other)
            // What came behind the request for the connection goes on first.
            operations.removeHandler(handshake.below.decoder, promise: nil)
            other.flush()
            let channel = context.channel
            channel.setOption(.allowRemoteHalfClosure, value: true).and(server.setOption(.autoRead, value: true))
                .whenComplete { _ in
                    channel.read()
                    server.read()
                }
        }
    }

    private func refuse(_ status: HTTPResponseStatus, _ reason: String, _ headers: [(String, String)] = []) {
        guard let context else { return }
        decide(.closed)
        Self.answer(context, status, "keychain: \(reason)\n", headers)
    }

    /// Answers with a text, and closes the connection.
    static func answer(
        _ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ text: String,
        _ headers: [(String, String)] = []
    ) {
        var head = HTTPResponseHead(
            version: .http1_1, status: status,
            headers: ["Content-Type": "text/plain; charset=utf-8", "Connection": "close"])
        head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
        head.headers.add(contentsOf: headers)
        answer(context, head, Array(text.utf8))
    }

    static func answer(_ context: ChannelHandlerContext, _ head: HTTPResponseHead, _ body: [UInt8]) {
        context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
        context.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }
}
#endif
