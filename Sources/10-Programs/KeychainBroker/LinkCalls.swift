#if HTTPClientSupport
import Access
import AsyncAlgorithms
import Broker
import Bytes
import NIOCore
import Synchronization

/// Makes the requests that come over the socket, each in the way of a program's request: by the same rules, with the
/// same record.
final class LinkCalls: Sendable {
    private let broker: RequestBroker
    private let running = Mutex<[Int: Task<Void, Never>]>([:])

    init(_ broker: RequestBroker) { self.broker = broker }

    /// Returns when the socket ends.
    func serve() async {
        for await message in broker.link.calls {
            switch message {
            case .call(let call, let body):
                running.withLock { running in
                    running[call.number] = Task {
                        let (answer, bytes) = await self.answer(call, body)
                        self.running.withLock { $0[call.number] = nil }
                        await self.broker.link.send(.answer(answer, bytes))
                    }
                }
            case .cancel(let number): running.withLock { $0[number]?.cancel() }
            default: break
            }
        }
    }

    private func answer(_ call: BrokerCall, _ body: [UInt8]) async -> (BrokerAnswer, [UInt8]) {
        let linked: LinkedRequest
        do {
            linked = try LinkedRequest(call, bodyCount: body.count, credentials: broker.credentials)
        } catch {
            return (BrokerAnswer(number: call.number, end: error.reason), [])
        }
        let target = linked.target
        if case .refuse(let reason) = broker.plan(target.host, target.port) {
            let record = BrokeredRequest(
                .refused, host: target.host, port: target.port, method: target.method, path: target.path,
                reason: reason)
            await broker.record(record)
            return (BrokerAnswer(number: call.number, record: record, end: reason), [])
        }
        let collector = AnswerCollector(longest: call.longest)
        let isLate = await carry(linked, body, to: collector, seconds: call.seconds)
        let (record, answer) = (linked.request.progress.record.withLock(\.self), collector.answer)
        var result = BrokerAnswer(number: call.number, record: record)
        if isLate {
            result.end = "the request was ended after \(call.seconds) seconds"
        } else if answer.isLong {
            result.end = "the body has more than \(call.longest) bytes"
        } else if record?.outcome == .refused || record?.outcome == .failed {
            result.end = record?.reason
        }
        // Without it, what was written is the broker's own refusal.
        guard record?.status != nil else { return (result, []) }
        (result.status, result.headers) = (answer.status, answer.headers)
        return (result, answer.body)
    }

    private enum End {
        case exchange, body, time
    }

    /// - Returns: Whether the time was over before the answer.
    private func carry(
        _ linked: LinkedRequest, _ body: [UInt8], to collector: AnswerCollector, seconds: Int
    ) async -> Bool {
        let request = linked.request
        return await withTaskGroup(of: End.self) { tasks in
            tasks.addTask { [broker] in
                // What goes wrong is in the record.
                _ = try? await Exchange(broker, linked.server, request).run(collector)
                return .exchange
            }
            tasks.addTask {
                if !body.isEmpty {
                    request.progress.add(body.count)
                    await request.body.send(ByteBuffer(bytes: body))
                }
                request.progress.finish()
                request.body.finish()
                return .body
            }
            tasks.addTask {
                try? await Task.sleep(for: .seconds(seconds))
                return .time
            }
            var end = End.body
            while end == .body, let next = await tasks.next() { end = next }
            let isLate = end == .time && !Task.isCancelled
            tasks.cancelAll()
            request.body.finish()
            return isLate
        }
    }
}
#endif
