#if HTTPClientSupport
import Access
import AsyncHTTPClient
import Broker
import Bytes
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS

/// One request for a WebSocket.
struct WebSocketExchange: Sendable {
    private let exchange: Exchange
    private let offer: WebSocketOffer.Handle

    init(_ exchange: Exchange, _ offer: WebSocketOffer.Handle) { (self.exchange, self.offer) = (exchange, offer) }

    private var broker: RequestBroker { exchange.broker }

    func run() async {
        let (target, uri): (BrokerRequest, String)
        do {
            let head = exchange.request.head
            // RFC 6455, 4.1: what goes out is what the rules are asked about.
            guard head.method == .GET, head.version == .http1_1 else {
                throw Exchange.Refusal(status: .badRequest, reason: "a WebSocket is asked for with GET over HTTP/1.1")
            }
            (target, uri) = try exchange.target()
        } catch let error as Exchange.Refusal {
            await broker.record(exchange.record(of: error))
            return offer.refuse(error.status, error.reason)
        } catch {
            // Nothing else is thrown there.
            return offer.refuse(.badRequest, "this is no request")
        }
        var record = BrokeredRequest(
            .passed, host: target.host, port: target.port, method: target.method, path: target.path)
        do {
            let outgoing = try await exchange.prepare(target, uri, &record, nil)
            // A server may ignore the offer, and answer with the token.
            guard outgoing.keeping.isEmpty else {
                throw Exchange.Refusal(
                    status: .forbidden,
                    reason: "the rule keeps tokens of answers, so it lets no WebSocket have the secret")
            }
            let answer = try await open(outgoing.request, outgoing.uri, target)
            let (head, body) = try passed(answer, target)
            record.status = Int(clamping: head.status.code)
            await broker.record(record)
            guard head.status == .switchingProtocols else { return offer.answer(head, body) }
            try await offer.join(head, answer.channel, change(target)).get()
            try await answer.channel.setOption(.autoRead, value: true).get()
        } catch {
            let refusal = exchange.note(error, &record)
            await broker.record(record)
            offer.refuse(refusal.status, refusal.reason)
        }
    }

    /// What becomes of the frames; nil for a server that no rule names: it knows no secret of this run.
    private func change(_ target: BrokerRequest) -> WebSocketChange? {
        guard broker.isOfRule(target.host, target.port) else { return nil }
        var change = WebSocketChange(mask: exchange.mask)
        let first = broker.secrets.candidates(for: target, at: Date())
        guard first.contains(where: { $0.places.contains(.websocket) }) else { return change }
        let broker = broker
        change.place = { text in
            let now = Date()
            let first = broker.secrets.candidates(for: target, at: now)
            var placement = SecretPlacement(first)
            _ = placement.message(text)
            guard !placement.wanted.isEmpty else { return text }
            var record = BrokeredRequest(
                .placed, host: target.host, port: target.port, method: target.method, path: target.path)
            record.secrets = broker.secrets.variables(of: placement.wanted)
            do {
                let values = try await broker.secrets.letOut(placement.wanted, for: target)
                placement = SecretPlacement(broker.secrets.candidates(for: target, at: now, values: values))
                let changed = placement.message(text)
                (record.status, record.sent) = (101, Int64(clamping: changed.count))
                await broker.record(record)
                return changed
            } catch {
                record.outcome = .refused
                record.reason = (error as? SecretsInUse.Refusal)?.reason
                await broker.record(record)
                throw error
            }
        }
        return change
    }

    /// What the program gets of the server's answer.
    private func passed(
        _ answer: WebSocketServer.Answer, _ target: BrokerRequest
    ) throws -> (head: HTTPResponseHead, body: [UInt8]) {
        let isOfRule = broker.isOfRule(target.host, target.port)
        let isWebSocket = answer.head.status == .switchingProtocols
        guard !isOfRule || !isWebSocket || !answer.head.headers.contains(name: "sec-websocket-extensions") else {
            throw UntrustedServer(reason: "the server packs the messages of the WebSocket without being asked to")
        }
        let coding = answer.head.headers[canonicalForm: "content-encoding"]
        guard !isOfRule || coding.allSatisfy({ $0.lowercased() == "identity" }) else {
            throw Exchange.Refusal(
                status: .badGateway, reason: "the server packs what it answers to the request for a WebSocket")
        }
        // Without the server's own words for the status, which could be a secret.
        var head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: Int(clamping: answer.head.status.code)))
        for (name, value) in answer.head.headers
        where !["connection", "upgrade", "content-length", "transfer-encoding", "keep-alive", "alt-svc"].contains(
            name.lowercased())
        {
            head.headers.add(
                name: isOfRule ? exchange.masked(name) : name, value: isOfRule ? exchange.masked(value) : value)
        }
        guard !isWebSocket else {
            head.headers.add(name: "Connection", value: "Upgrade")
            head.headers.add(name: "Upgrade", value: "websocket")
            return (head, [])
        }
        var mask = exchange.mask
        let body = isOfRule ? answer.body.withUnsafeBytes { mask.take($0) } + mask.finish() : answer.body
        return (head, body)
    }

    // MARK: The server

    private func open(
        _ outgoing: HTTPClientRequest, _ uri: String, _ target: BrokerRequest
    ) async throws -> WebSocketServer.Answer {
        let address = try await broker.address(target.host, target.port)
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri)
        let name = BrokerDestination.urlHost(target.host)
        head.headers.add(name: "Host", value: target.port == 443 ? name : "\(name):\(target.port)")
        head.headers.add(name: "Connection", value: "Upgrade")
        head.headers.add(name: "Upgrade", value: "websocket")
        let isOfRule = broker.isOfRule(target.host, target.port)
        for (name, value) in outgoing.headers
        where !isOfRule || !["sec-websocket-extensions", "accept-encoding"].contains(name.lowercased()) {
            head.headers.add(name: name, value: value)
        }
        let promise = offer.channel.eventLoop.makePromise(of: WebSocketServer.Answer.self)
        let (tls, host, request) = (try broker.tls(for: "http/1.1"), target.host, head)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: offer.channel.eventLoop)
                .connectTimeout(.seconds(15))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                        let operations = channel.pipeline.syncOperations
                        try operations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
                        try operations.addHandler(WebSocketServer(host, request, promise))
                    }
                }
                .connect(host: address, port: target.port).get()
        } catch {
            promise.fail(error)
            throw error
        }
        // The server has as long as with other requests to accept; the program may give up before.
        offer.channel.closeFuture.whenComplete { _ in channel.close(promise: nil) }
        return try await promise.futureResult.get()
    }
}

/// Asks a server for a WebSocket, and waits for its answer.
final class WebSocketServer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    struct Answer: Sendable {
        var head: HTTPResponseHead
        /// Of an answer that is no WebSocket.
        var body: [UInt8] = []
        var channel: any Channel
    }

    private let host: String
    private let request: HTTPRequestHead
    private let promise: EventLoopPromise<Answer>
    private var answer: Answer?
    private var isAnswered = false
    private let encoder = WebSocketServer.encoder()
    private let decoder = ByteToMessageHandler(
        HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes, informationalResponseStrategy: .drop))

    /// More of an answer that is no WebSocket is left out.
    private static let longest = 1 << 20

    init(_ host: String, _ request: HTTPRequestHead, _ promise: EventLoopPromise<Answer>) {
        (self.host, self.request, self.promise) = (host, request, promise)
    }

    private static func encoder() -> HTTPRequestEncoder {
        var configuration = HTTPRequestEncoder.Configuration()
        configuration.automaticallySetFramingHeaders = false
        return HTTPRequestEncoder(configuration: configuration)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            CertificateGuard.check(context.channel, for: host).whenComplete { result in
                let (server, context) = bound.value
                switch result {
                case .success: server.ask(context)
                case .failure(let error): server.end(error, context)
                }
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func ask(_ context: ChannelHandlerContext) {
        do {
            try context.pipeline.syncOperations.addHandlers([encoder, decoder], position: .before(self))
        } catch {
            return end(error, context)
        }
        context.write(Self.wrapOutboundOut(.head(request)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            let code = Int(clamping: head.status.code)
            guard StatusGuard.isStatus(code) || code == 101 else {
                return end(UntrustedServer(reason: "the server answers with a status that is none"), context)
            }
            answer = Answer(head: head, channel: context.channel)
        case .body(let bytes):
            let room = Self.longest - (answer?.body.count ?? 0)
            answer?.body += bytes.readableBytesView.prefix(room)
            if bytes.readableBytes >= room { finish(context) }
        case .end: finish(context)
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard let answer, !isAnswered else { return }
        isAnswered = true
        guard answer.head.status == .switchingProtocols else {
            promise.succeed(answer)
            return context.close(promise: nil)
        }
        // Nothing is read before there is somebody to pass it to.
        let (promise, pipeline) = (promise, context.pipeline.syncOperations)
        let bound = NIOLoopBound((self, pipeline), eventLoop: context.eventLoop)
        context.channel.setOption(.autoRead, value: false).flatMap {
            let (server, pipeline) = bound.value
            return pipeline.removeHandler(server.encoder)
        }.whenComplete { _ in promise.succeed(answer) }
    }

    /// Makes room for those who take the frames. What came behind the answer goes to `hold`.
    func leave(
        _ pipeline: ChannelPipeline.SynchronousOperations, _ hold: BytesHold
    ) throws -> EventLoopFuture<Void> {
        try pipeline.addHandler(hold, position: .after(decoder))
        return pipeline.removeHandler(self).and(pipeline.removeHandler(decoder)).map { _ in }
    }

    private func end(_ error: any Error, _ context: ChannelHandlerContext) {
        if !isAnswered {
            isAnswered = true
            promise.fail(error)
        }
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(error, context) }

    func channelInactive(context: ChannelHandlerContext) {
        end(ChannelError.eof, context)
        context.fireChannelInactive()
    }
}
#endif
