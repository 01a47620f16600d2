#if HTTPClientSupport
import Broker
import NIOCore
import NIOSSL
import NIOTLS

/// Reads the messages of a connection one by one, until its bytes pass unread.
///
/// It holds few bytes: who sends more than is asked for is closed.
final class Prelude: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The connection is over.
    struct Ended: Error {}

    private var bytes: [UInt8] = []
    /// Tries to take what is waited for, and returns whether the waiting is over.
    private var attempt: (() -> Bool)?
    private var end: (any Error)?
    private var handshake: EventLoopPromise<Void>?
    private var isHandshakeOver = false

    /// In bytes: two of the longest messages of PostgreSQL before a session is ready.
    private static let most = 2 * (PostgresMessage.longest + 5)

    /// What the code outside of the event loop holds of it.
    struct Handle: Sendable {
        let channel: any Channel
        fileprivate let prelude: NIOLoopBound<Prelude>

        /// Waits for a message.
        ///
        /// - Parameter take: Takes it from the beginning of the bytes; nil if there are too few.
        /// - Throws: ``Ended``, the error of the connection, or what `take` throws.
        func next<Message: Sendable>(
            _ take: @escaping @Sendable (inout [UInt8]) throws -> Message?
        ) async throws -> Message {
            try await channel.eventLoop.flatSubmit { prelude.value.next(take, on: channel.eventLoop) }.get()
        }

        /// Begins TLS as a client, and waits until the server is verified by its authority.
        ///
        /// - Parameter host: The name of the server; nil for one that is named by its address.
        func beginTLS(_ context: NIOSSLContext, host: String?) async throws {
            try await channel.eventLoop.flatSubmit { prelude.value.beginTLS(context, host, channel) }.get()
        }

        func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() }

        func send(_ message: PostgresMessage) async throws { try await send(message.encoded) }

        /// Passes bytes between this connection and another one of the same event loop from now on.
        ///
        /// - Parameter reply: What this one gets before.
        func join(_ other: Handle, after reply: [UInt8]) async throws {
            let own = self
            try await channel.eventLoop.submit {
                let pair = PassingHandler.pair()
                let isOver = [own, other].contains { $0.prelude.value.end != nil }
                try own.channel.pipeline.syncOperations.addHandler(pair.0)
                try other.channel.pipeline.syncOperations.addHandler(pair.1)
                own.channel.writeAndFlush(ByteBuffer(bytes: reply), promise: nil)
                // What came meanwhile goes on first.
                for end in [own, other] {
                    end.channel.pipeline.syncOperations.removeHandler(end.prelude.value, promise: nil)
                }
                // Nobody hears of an end that was before.
                if isOver { for end in [own, other] { end.channel.close(promise: nil) } }
            }.flatMap {
                own.channel.setOption(.allowRemoteHalfClosure, value: true)
                    .and(other.channel.setOption(.allowRemoteHalfClosure, value: true))
            }.get().0
        }
    }

    /// Adds one to a connection, on its event loop.
    static func add(to channel: any Channel) throws -> Handle {
        let prelude = Prelude()
        try channel.pipeline.syncOperations.addHandler(prelude)
        return Handle(channel: channel, prelude: NIOLoopBound(prelude, eventLoop: channel.eventLoop))
    }

    private func next<Message: Sendable>(
        _ take: @escaping @Sendable (inout [UInt8]) throws -> Message?, on loop: any EventLoop
    ) -> EventLoopFuture<Message> {
        let promise = loop.makePromise(of: Message.self)
        attempt = { [unowned self] in
            do {
                if let message = try take(&bytes) {
                    promise.succeed(message)
                } else if let end {
                    promise.fail(end)
                } else {
                    return false
                }
            } catch {
                promise.fail(error)
            }
            return true
        }
        proceed()
        return promise.futureResult
    }

    private func proceed() {
        guard let attempt else { return }
        // What it resumes may wait for the next message.
        self.attempt = nil
        if !attempt() { self.attempt = attempt }
    }

    private func beginTLS(
        _ tls: NIOSSLContext, _ host: String?, _ channel: any Channel
    ) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        // What came before the handshake is of anybody, and would be read as if it were the server's.
        guard bytes.isEmpty else {
            promise.fail(PostgresProblem("the server sends more than the answer to the request for TLS"))
            return promise.futureResult
        }
        if let end {
            promise.fail(end)
            return promise.futureResult
        }
        handshake = promise
        do {
            try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(context: tls, serverHostname: host), position: .first)
        } catch {
            finish(error)
        }
        return promise.futureResult
    }

    private func finish(_ error: any Error) {
        end = end ?? error
        handshake?.fail(error)
        handshake = nil
        proceed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // TLS waits for the other end before the connection is closed, and bytes may go on coming.
        guard end == nil else { return }
        bytes += Self.unwrapInboundIn(data).readableBytesView
        proceed()
        guard bytes.count > Self.most else { return }
        bytes = []
        finish(PostgresProblem("more was sent than the log-in has"))
        context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent {
            handshake?.succeed()
            (handshake, isHandshakeOver) = (nil, true)
        }
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { finish(Ended()) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The server is verified by then, and went away in the middle.
        finish(isHandshakeOver ? Ended() : error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(Ended())
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { finish(Ended()) }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        if !bytes.isEmpty {
            context.fireChannelRead(Self.wrapInboundOut(ByteBuffer(bytes: bytes)))
            context.fireChannelReadComplete()
        }
        context.leavePipeline(removalToken: removalToken)
    }
}
#endif
