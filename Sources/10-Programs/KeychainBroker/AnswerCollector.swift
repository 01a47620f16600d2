#if HTTPClientSupport
import Broker
import Bytes
import NIOCore
import NIOHTTP1
import Synchronization

/// Where an ``Exchange`` writes the answer to a request.
protocol AnswerWriter: Sendable {
    func write(_ part: HTTPServerResponsePart) async throws
}

extension NIOAsyncChannelOutboundWriter: AnswerWriter where OutboundOut == HTTPServerResponsePart {}

/// The answer has more bytes than were asked for. The rest is not fetched.
struct AnswerIsLong: Error {}

/// Keeps an answer, as far as it is asked for.
final class AnswerCollector: AnswerWriter {
    struct Answer: Sendable {
        var status: Int?
        var headers: [BrokerCall.Header] = []
        var body: [UInt8] = []
        var isLong = false
    }

    private let longest: Int
    private let state = Mutex(Answer())

    /// - Parameter longest: In bytes of the body.
    init(longest: Int) { self.longest = longest }

    /// What has come.
    var answer: Answer { state.withLock(\.self) }

    func write(_ part: HTTPServerResponsePart) throws {
        switch part {
        case .head(let head):
            state.withLock { state in
                state.status = Int(clamping: head.status.code)
                state.headers = head.headers.map { BrokerCall.Header($0.name, $0.value) }
            }
        case .body(.byteBuffer(let bytes)):
            let isLong = state.withLock { state in
                let room = longest - state.body.count
                state.body += bytes.readableBytesView.prefix(room)
                state.isLong = state.isLong || bytes.readableBytes > room
                return state.isLong
            }
            if isLong { throw AnswerIsLong() }
        case .body(.fileRegion), .end: break
        }
    }
}
#endif
