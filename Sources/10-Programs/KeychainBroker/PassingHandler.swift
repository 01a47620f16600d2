#if HTTPClientSupport
import NIOCore

/// Passes bytes to another channel of the same event loop, no faster than that one takes them.
final class PassingHandler: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    private var partner: PassingHandler?
    private var context: ChannelHandlerContext?
    private var isReadWaiting = false

    static func pair() -> (PassingHandler, PassingHandler) {
        let (first, second) = (PassingHandler(), PassingHandler())
        (first.partner, second.partner) = (second, first)
        return (first, second)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func flush() { context?.flush() }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        partner = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { partner?.context?.write(data, promise: nil) }
    func channelReadComplete(context: ChannelHandlerContext) {
        partner?.context?.flush()
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        partner?.context?.close(promise: nil)
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            partner?.context?.close(mode: .output, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, let partner, partner.isReadWaiting {
            partner.isReadWaiting = false
            partner.context?.read()
        }
        context.fireChannelWritabilityChanged()
    }

    func read(context: ChannelHandlerContext) {
        if partner?.context?.channel.isWritable ?? true {
            context.read()
        } else {
            isReadWaiting = true
        }
    }
}
#endif
