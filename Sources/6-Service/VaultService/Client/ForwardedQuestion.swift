import Access
import Bytes
import DaemonLink
import Frames
import VaultInterface

/// A daemon's question to a person that another program hands on, because it cannot ask itself.
package enum ForwardedQuestion {
    /// Reads the question from `descriptor`, asks, and writes the answer. Takes the question away when the other side
    /// goes.
    ///
    /// - Throws: ``SocketError`` or `FrameError` if no question comes.
    package static func answer(on descriptor: Int32, with prompt: any PasscodePrompt) throws {
        let socket = FrameSocket(descriptor)
        let frame = FrameBuffer()
        let kind = try socket.receive(
            into: frame, limit: WireProtocol.longestFrame, first: WireProtocol.patience, rest: WireProtocol.patience)
        guard kind == .question else { throw FrameError("no question") }
        var reader = FrameReader(frame, from: 1)
        let asked = try reader.read(SentQuestion.self)
        let deadline = ContinuousClock.now + .seconds(Int64(asked.seconds))
        let answer = Retraction.watching(descriptor) { prompt.ask(asked.question, until: deadline, cancellation: $0) }
        frame.removeAll()
        frame.appendFrame(.answer) { frame.write(answer) }
        // Nobody waits for the answer of a question that was taken away.
        try? socket.send(frame, within: WireProtocol.patience)
    }
}
