#if HTTPClientSupport
import Access
import AsyncAlgorithms
import Broker
import NIOCore
import NIOHTTP1
import Synchronization

/// A request of the program, whose body may still come.
struct IncomingRequest: Sendable {
    typealias Body = AsyncThrowingChannel<ByteBuffer, any Error>

    var head: HTTPRequestHead
    var body = Body()
    let progress = Progress()

    /// How much of the body has come, and what was recorded of the request.
    final class Progress: Sendable {
        let record = Mutex<BrokeredRequest?>(nil)
        /// What finds secrets in the answer, if there are more than those of the run.
        let mask = Mutex<AnswerMask?>(nil)
        private let count = Atomic<Int64>(0)
        private let end = Atomic(false)
        var bytes: Int64 { count.load(ordering: .relaxed) }
        var isWhole: Bool { end.load(ordering: .acquiring) }
        func add(_ bytes: Int) { count.add(Int64(clamping: bytes), ordering: .relaxed) }
        func finish() { end.store(true, ordering: .releasing) }
    }

    /// Whether the head announces a body.
    var hasBody: Bool {
        head.headers.contains(name: "transfer-encoding")
            || head.headers.contains { name, value in
                name.lowercased() == "content-length" && value != "0"
            }
    }
}

/// The requests that come over one connection of the program, one after the other.
struct ProgramRequests: Sendable {
    let broker: RequestBroker
    /// The server that the program asked the proxy for; nil if each request names its own, in clear text.
    let server: (host: String, port: Int)?

    init(_ broker: RequestBroker, server: (String, Int)?) {
        self.broker = broker
        self.server = server.map { ($0.0, $0.1) }
    }

    /// What is over first: the program went away, or the last answer is out.
    private enum End {
        case program, answers
    }

    func serve(_ channel: ProxyConnection.Requests) async {
        do {
            try await channel.executeThenClose { inbound, outbound in
                let requests = AsyncThrowingChannel<IncomingRequest, any Error>()
                try await withThrowingTaskGroup(of: End.self) { tasks in
                    tasks.addTask {
                        try await Self.read(inbound, requests)
                        return .program
                    }
                    tasks.addTask {
                        for try await request in requests {
                            let exchange = Exchange(broker, server, request)
                            guard try await exchange.run(outbound) else { break }
                        }
                        return .answers
                    }
                    defer { tasks.cancelAll() }
                    guard try await tasks.next() == .answers else { return }
                    requests.finish()
                    outbound.finish()
                    // A program that still sends gets the answer, and not the end of the connection before it.
                    tasks.addTask {
                        try await Task.sleep(for: .seconds(2))
                        return .program
                    }
                    _ = try await tasks.next()
                }
            }
        } catch {
            guard error is HTTPParserError else { return }
            await broker.record(
                BrokeredRequest(
                    .refused, host: server?.host ?? "", port: server?.port ?? 0,
                    reason: "this is no request of HTTP/1.1 (\(error))"))
        }
    }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>,
        _ requests: AsyncThrowingChannel<IncomingRequest, any Error>
    ) async throws {
        var current: IncomingRequest?
        do {
            for try await part in inbound {
                switch part {
                case .head(let head):
                    let request = IncomingRequest(head: head)
                    current = request
                    await requests.send(request)
                case .body(let bytes):
                    current?.progress.add(bytes.readableBytes)
                    await current?.body.send(bytes)
                case .end:
                    current?.progress.finish()
                    current?.body.finish()
                    current = nil
                }
            }
            current?.body.fail(ChannelError.eof)
        } catch {
            current?.body.fail(error)
            throw error
        }
    }
}
#endif
