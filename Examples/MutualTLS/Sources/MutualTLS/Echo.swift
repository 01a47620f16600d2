import NIOCore
import NIOPosix
import NIOSSL

/// How a connection to the server ended.
enum Visit: Sendable {
    case served(Peer)
    /// The handshake failed or the connection broke.
    case failed(reason: String)
}

/// A server that sends back what it gets, over TLS.
struct EchoServer {
    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The server closes a connection that sends nothing for this time.
    private static let patience = TimeAmount.seconds(30)

    private let listener: NIOAsyncChannel<Connection, Never>
    /// Where it listens, on the loopback interface.
    let port: Int

    /// Begins to listen.
    ///
    /// - Parameter port: 0 for any that is free.
    init(_ configuration: TLSConfiguration, port: Int = 0) async throws {
        let context = try NIOSSLContext(configuration: configuration)
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    try handlers.addHandler(IdleStateHandler(readTimeout: Self.patience))
                    try handlers.addHandler(CloseWhenIdle())
                    try handlers.addHandler(NIOSSLServerHandler(context: context))
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        guard let port = listener.channel.localAddress?.port else { throw ExampleError("the server has no address") }
        self.port = port
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter report: Called at the end of every connection.
    func run(report: @escaping @Sendable (Visit) -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    group.addTask { report(await Self.serve(connection)) }
                }
            }
        }
    }

    private static func serve(_ connection: Connection) async -> Visit {
        do {
            return try await connection.executeThenClose { inbound, outbound in
                var peer: Peer?
                for try await bytes in inbound {
                    // Bytes come after the handshake only.
                    if peer == nil { peer = try await Peer(at: connection.channel) }
                    try await outbound.write(bytes)
                }
                return peer.map(Visit.served) ?? .failed(reason: "the client said nothing")
            }
        } catch {
            return .failed(reason: "\(error)")
        }
    }
}

/// Sends bytes to the server and waits until as many have come back.
enum EchoClient {
    static func exchange(
        _ message: String, port: Int, _ configuration: TLSConfiguration
    ) async throws -> (reply: String, server: Peer) {
        let context = try NIOSSLContext(configuration: configuration)
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(.seconds(5))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    try handlers.addHandler(IdleStateHandler(readTimeout: .seconds(30)))
                    try handlers.addHandler(CloseWhenIdle())
                    try handlers.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    return try EchoServer.Connection(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: message))
            var reply = ByteBuffer()
            for try await bytes in inbound {
                reply.writeImmutableBuffer(bytes)
                guard reply.readableBytes >= message.utf8.count else { continue }
                return (String(buffer: reply), try await Peer(at: connection.channel))
            }
            throw ExampleError("the server closed the connection")
        }
    }
}

/// Closes a connection on which nothing arrives.
private final class CloseWhenIdle: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
