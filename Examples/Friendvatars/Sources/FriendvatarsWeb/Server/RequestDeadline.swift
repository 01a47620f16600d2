import NIOCore
import NIOHTTPTypes

/// Closes a connection on which no whole request came in time, or no answer was taken: one that trickles, as one that
/// says nothing, holds a place that others need. Also one whose body is larger than any form, which nobody reads to its
/// end.
///
/// Its place is after the decoder of HTTP. There is always a time that runs: for the next request while all that were
/// asked are answered, which an answer can be before its request has ended; else for the answer.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// So many requests may wait for their answers.
    private static let pipeline = 16

    private let time: TimeAmount
    private let answerTime: TimeAmount
    private let limit: Int
    private var timer: Scheduled<Void>?
    private var size = 0
    private var asked = 0
    private var answered = 0

    /// - Parameters:
    ///   - time: For a whole request.
    ///   - answerTime: From its end until the whole answer was taken.
    ///   - limit: The largest body, in bytes.
    init(time: TimeAmount, answerTime: TimeAmount, limit: Int) {
        (self.time, self.answerTime, self.limit) = (time, answerTime, limit)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        start(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: size = 0
        case .body(let part):
            size += part.readableBytes
            // The answer that it is too much was given long before.
            if size > limit { return context.close(promise: nil) }
        case .end:
            asked += 1
            // Browsers wait for one answer before they ask again. Who sends requests by the thousand keeps a thread
            // from others.
            if asked - answered > Self.pipeline { return context.close(promise: nil) }
            start(context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let written = promise ?? context.eventLoop.makePromise()
        let isolated = written.futureResult.assumeIsolated()
        isolated.whenSuccess {
            self.answered += 1
            self.start(context)
        }
        context.write(data, promise: written)
    }

    private func start(_ context: ChannelHandlerContext) {
        timer?.cancel()
        let time = answered >= asked ? time : answerTime
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
