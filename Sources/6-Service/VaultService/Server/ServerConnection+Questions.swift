import Access
import Bytes
import Connections
import DaemonLink
import Frames
import VaultInterface

/// Questions in the middle of a request, on the connection's thread.
extension ServerConnection: QuestionChannel {
    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        let time = deadline - .now
        guard time > .zero else { return .timedOut }
        guard !cancellation.isCanceled else { return .canceled }
        let seconds = UInt32(clamping: max(1, min((time / .seconds(1)).rounded(.up), 86_400)))
        let frame = FrameBuffer()
        frame.appendFrame(.question) { frame.write(SentQuestion(question, seconds: seconds)) }
        do {
            try socket.send(frame, within: server.limits.transfer)
            // Clients may leave questions open: they must not keep others out.
            return try server.loop.whileWaiting(seat, in: .answer) {
                Result {
                    try cancellation.withHandler({ [self] in retract() }) {
                        // The client knows the deadline too, and gets a moment to say that it passed.
                        let answer = try receiveAnswer(frame, within: time + .seconds(2))
                        return cancellation.isCanceled ? .canceled : answer
                    }
                }
            }.get()
        } catch SocketError.timedOut {
            // An answer that comes later would be taken for a request.
            end()
            return .timedOut
        } catch {
            end()
            return .canceled
        }
    }

    func show(_ message: String) {
        let frame = FrameBuffer()
        frame.appendFrame(.message) { frame.append(message) }
        // A client that is gone needs no message.
        try? socket.send(frame, within: server.limits.transfer)
    }

    /// Runs on the thread that takes the question back, while the connection's own thread only reads.
    private func retract() {
        let frame = FrameBuffer()
        frame.appendFrame(.retraction)
        try? socket.send(frame, within: server.limits.transfer)
    }

    private func receiveAnswer(_ frame: FrameBuffer, within time: Duration) throws -> PasscodeAnswer {
        let kind = try socket.receive(
            into: frame, limit: WireLimits.secret + 64, first: time, rest: server.limits.transfer)
        guard kind == .answer else { throw FrameError("an answer has to follow a question") }
        var reader = FrameReader(frame, from: 1)
        let answer = try reader.read(PasscodeAnswer.self)
        try reader.finish()
        return answer
    }
}
