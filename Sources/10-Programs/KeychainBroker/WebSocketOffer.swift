#if HTTPClientSupport
import Broker
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Takes a program's request for a WebSocket (RFC 6455) out of its connection, and joins that with the server's.
final class WebSocketOffer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// What the code outside of the event loop holds of it.
    struct Handle: Sendable {
        fileprivate let offer: NIOLoopBound<WebSocketOffer>
        let channel: any Channel

        func refuse(_ status: HTTPResponseStatus, _ reason: String) {
            channel.eventLoop.execute {
                guard let context = offer.value.context else { return }
                ProxyHandshake.answer(context, status, "keychain: \(reason)\n")
            }
        }

        /// Passes on an answer that is no WebSocket, and closes the connection.
        func answer(_ head: HTTPResponseHead, _ body: [UInt8]) {
            channel.eventLoop.execute {
                guard let context = offer.value.context else { return }
                var head = head
                head.headers.replaceOrAdd(name: "Content-Length", value: "\(body.count)")
                head.headers.replaceOrAdd(name: "Connection", value: "close")
                ProxyHandshake.answer(context, head, body)
            }
        }

        /// Passes on that there is a WebSocket, and from now on the frames of both sides.
        func join(_ head: HTTPResponseHead, _ server: any Channel, _ change: WebSocketChange?) -> EventLoopFuture<Void>
        {
            channel.eventLoop.flatSubmit { offer.value.join(head, server, change) }
        }
    }

    private let broker: RequestBroker
    private let server: (host: String, port: Int)
    private let below: ProxyHandshake.Below
    private var context: ChannelHandlerContext?
    private var isTaken = false

    init(_ broker: RequestBroker, _ host: String, _ port: Int, below: ProxyHandshake.Below) {
        (self.broker, server, self.below) = (broker, (host, port), below)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    static func isAsked(for head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isTaken else { return }
        guard case .head(let head) = Self.unwrapInboundIn(data), Self.isAsked(for: head) else {
            return context.fireChannelRead(data)
        }
        isTaken = true
        let handle = Handle(offer: NIOLoopBound(self, eventLoop: context.eventLoop), channel: context.channel)
        let exchange = Exchange(broker, server, IncomingRequest(head: head))
        // It ends with the connection to the server.
        Task { await WebSocketExchange(exchange, handle).run() }
    }

    private func join(
        _ head: HTTPResponseHead, _ server: any Channel, _ change: WebSocketChange?
    ) -> EventLoopFuture<Void> {
        guard let context else {
            server.close(promise: nil)
            return server.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        do {
            let (own, other) = (BytesHold(), BytesHold())
            let operations = context.pipeline.syncOperations
            try operations.addHandler(own, position: .after(below.decoder))
            let asked = try server.pipeline.syncOperations.handler(type: WebSocketServer.self)
            // No part of HTTP is there any more when the first frame passes.
            let removals = try [
                operations.removeHandler(below.encoder), operations.removeHandler(below.errors),
                operations.removeHandler(below.decoder), asked.leave(server.pipeline.syncOperations, other),
            ]
            let bound = NIOLoopBound((self, context, own, other), eventLoop: context.eventLoop)
            return EventLoopFuture.andAllSucceed(removals, on: context.eventLoop).flatMap {
                let (offer, context, own, other) = bound.value
                return offer.pass(context, own, server, other, change)
            }
        } catch {
            return context.eventLoop.makeFailedFuture(error)
        }
    }

    private func pass(
        _ context: ChannelHandlerContext, _ ownHold: BytesHold, _ server: any Channel, _ otherHold: BytesHold,
        _ change: WebSocketChange?
    ) -> EventLoopFuture<Void> {
        let (own, other) = PassingHandler.pair()
        let (operations, serverOperations) = (context.pipeline.syncOperations, server.pipeline.syncOperations)
        do {
            let frames = change.map { $0.handlers(from: .program) } ?? []
            try operations.addHandlers(frames + [own], position: .after(ownHold))
            let serverFrames = change.map { $0.handlers(from: .server) } ?? []
            try serverOperations.addHandlers(serverFrames + [other], position: .after(otherHold))
            // What came behind the request and the answer goes on first.
            return EventLoopFuture.andAllSucceed(
                [
                    operations.removeHandler(self), operations.removeHandler(ownHold),
                    serverOperations.removeHandler(otherHold),
                ], on: context.eventLoop)
        } catch {
            return context.eventLoop.makeFailedFuture(error)
        }
    }
}

/// Keeps what comes until it is removed.
final class BytesHold: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var held: [NIOAny] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { held.append(data) }

    func handlerRemoved(context: ChannelHandlerContext) {
        guard !held.isEmpty else { return }
        for data in held { context.fireChannelRead(data) }
        held = []
        context.fireChannelReadComplete()
    }
}

/// What becomes of the frames of a WebSocket with a server of a rule.
struct WebSocketChange: Sendable {
    enum Side: Sendable {
        case program, server
    }

    /// Puts the secrets into a text of the program; nil if no rule allows that.
    var place: (@Sendable ([UInt8]) async throws -> [UInt8])?
    var mask: AnswerMask

    /// A message is held as a whole: it has at most so many bytes, in at most so many frames.
    static let longest = 16 << 20
    static let mostFrames = 4_096

    func handlers(from side: Side) -> [any ChannelHandler] {
        let aggregator = NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Self.mostFrames,
            maxAccumulatedFrameSize: Self.longest)
        let handler: any ChannelHandler = side == .program ? WebSocketRequests(self) : WebSocketAnswers(mask)
        return [
            WebSocketFrameEncoder(), ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: Self.longest)),
            WebSocketProtocolErrorHandler(isServer: side == .program), aggregator, handler,
        ]
    }
}

/// Masks the messages of a server.
private final class WebSocketAnswers: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    private let mask: AnswerMask

    init(_ mask: AnswerMask) { self.mask = mask }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        let bytes = frame.unmaskedData
        var mask = mask
        let masked = bytes.withUnsafeReadableBytes { mask.take($0) } + mask.finish()
        context.fireChannelRead(
            Self.wrapInboundOut(
                WebSocketFrame(fin: frame.fin, opcode: frame.opcode, data: ByteBuffer(bytes: masked))))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Puts secrets into the messages of the program, one after the other.
private final class WebSocketRequests: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let change: WebSocketChange
    /// What waits for the one before.
    private var waiting: CircularBuffer<WebSocketFrame> = []
    private var isPlacing = false

    init(_ change: WebSocketChange) { self.change = change }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waiting.append(Self.unwrapInboundIn(data))
        passNext(context)
    }

    private func passNext(_ context: ChannelHandlerContext) {
        while !isPlacing, let frame = waiting.popFirst() {
            guard frame.opcode == .text, let place = change.place else {
                pass(frame.opcode, frame.unmaskedData, fin: frame.fin, context)
                continue
            }
            isPlacing = true
            // Nothing more is read while a person is asked.
            context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
            let text = Array(frame.unmaskedData.readableBytesView)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.makeFutureWithTask { try await place(text) }.whenComplete { result in
                let (handler, context) = bound.value
                guard case .success(let changed) = result else { return handler.refuse(context) }
                handler.isPlacing = false
                handler.pass(.text, ByteBuffer(bytes: changed), fin: true, context)
                context.fireChannelReadComplete()
                context.channel.setOption(.autoRead, value: true).whenFailure { _ in }
                handler.passNext(context)
            }
        }
    }

    /// A message that cannot have its secret ends the WebSocket: the server must not get half of what was meant.
    private func refuse(_ context: ChannelHandlerContext) {
        var data = context.channel.allocator.buffer(capacity: 64)
        data.write(webSocketErrorCode: .policyViolation)
        data.writeString("keychain: the rule does not let the secret out")
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(
            Self.wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
        ).whenComplete { _ in bound.value.close(promise: nil) }
    }

    private func pass(_ opcode: WebSocketOpcode, _ data: ByteBuffer, fin: Bool, _ context: ChannelHandlerContext) {
        // A client masks each frame with a key of its own (RFC 6455, 5.3).
        context.fireChannelRead(
            Self.wrapInboundOut(WebSocketFrame(fin: fin, opcode: opcode, maskKey: .random(), data: data)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif
