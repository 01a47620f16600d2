import FriendvatarsKit
import Glibc
import NIOCore
import Synchronization

/// Closes connections of an address that has many already, so that one client cannot have all places.
final class ConnectionLimit: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    /// How many connections each address has.
    final class Counts: Sendable {
        private let limit: Int
        private let counts = Mutex<[String: Int]>([:])

        /// - Parameter limit: The most for one address.
        init(limit: Int) {
            self.limit = limit
        }

        func take(_ subscriber: String) -> Bool {
            counts.withLock { counts in
                let count = counts[subscriber] ?? 0
                guard count < limit else { return false }
                counts[subscriber] = count + 1
                return true
            }
        }

        func give(_ subscriber: String) {
            counts.withLock { counts in
                let count = counts[subscriber] ?? 0
                counts[subscriber] = count > 1 ? count - 1 : nil
            }
        }
    }

    private let counts: Counts
    private var taken: String?

    init(_ counts: Counts) {
        self.counts = counts
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { take(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        take(context)
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if let taken { counts.give(taken) }
        taken = nil
    }

    private func take(_ context: ChannelHandlerContext) {
        guard taken == nil, let subscriber = context.channel.remoteAddress?.subscriber else { return }
        guard counts.take(subscriber) else { return context.close(promise: nil) }
        taken = subscriber
    }
}

extension SocketAddress {
    /// The part that one subscriber has: all of IPv4, 64 bits of IPv6 (RFC 4291, section 2.5.4).
    fileprivate var subscriber: String? {
        guard self.protocol == .inet6, let text = ipAddress else { return ipAddress }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return text }
        // An IPv4 address of a socket that takes both (RFC 4291, section 2.5.5.2) is one of its own.
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? text : bytes.prefix(8).hexadecimal
    }
}
