#if HTTPClientSupport
import Broker
import Bytes
import CLibrary
import Foundation
import Frames
import Synchronization
import SystemLibraries

/// The broker's end of the socket to `keychain run` or `keychain mcp`.
final class BrokerLink: Sendable {
    private let descriptor: Int32
    /// Sends one message after the other, so that no event loop waits for a reader that is slow.
    private let sender = DispatchQueue(label: "link")
    private let waiting = Mutex<[Int: [CheckedContinuation<SecretBytes?, Never>]]>([:])
    /// The access tokens that are waited for.
    let renewals = TokenRenewals()
    /// The calls that come over the socket, and the ends of calls. `keychain mcp` bounds how many there are.
    let calls: AsyncStream<BrokerMessage>
    private let callSource: AsyncStream<BrokerMessage>.Continuation

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        (calls, callSource) = AsyncStream.makeStream()
    }

    /// Reads the first message.
    ///
    /// - Throws: ``SocketError`` or `FrameError`.
    func start() throws -> BrokerStart {
        let (socket, frame) = (FrameSocket(descriptor, ownsDescriptor: false), FrameBuffer())
        // A person may have to unlock the vault first. The socket ends with the other process.
        try socket.receiveFrame(into: frame, limit: BrokerMessage.longest, first: nil, rest: .seconds(60))
        guard case .start(let start) = try BrokerMessage(frame) else { throw FrameError("another first message") }
        return start
    }

    /// Reads from now on, and calls `end` when `keychain run` is gone.
    func follow(end: @escaping @Sendable () -> Void) -> Bool {
        DetachedThread.start("link") { [self] in
            let (socket, frame) = (FrameSocket(descriptor, ownsDescriptor: false), FrameBuffer())
            while (try? socket.receiveFrame(
                into: frame, limit: BrokerMessage.longest, first: nil, rest: .seconds(60))) != nil,
                let message = try? BrokerMessage(frame), take(message)
            {
                frame.recycle()
            }
            end()
        }
    }

    /// - Returns: Whether it is one that may come.
    private func take(_ message: BrokerMessage) -> Bool {
        switch message {
        case .value(let number, let secret):
            let continuations = waiting.withLock { $0.removeValue(forKey: number) } ?? []
            for continuation in continuations { continuation.resume(returning: secret) }
        case .call, .cancel: callSource.yield(message)
        case .renewed(let renewed, let token): renewals.take(renewed, token)
        case .start, .ready, .failed, .wanted, .record, .answer, .renew: return false
        }
        return true
    }

    /// Sends a message, and returns when `keychain run` has it in its socket: nothing happens unrecorded.
    func send(_ message: BrokerMessage) async {
        await withCheckedContinuation { continuation in
            sender.async { [descriptor] in
                let buffer = FrameBuffer()
                message.encode(to: buffer)
                // Without keychain run, this process ends.
                try? FrameSocket(descriptor, ownsDescriptor: false).send(buffer, within: .seconds(3_600))
                continuation.resume()
            }
        }
    }

    /// Asks for the secret of a rule that wants a person's word first. Questions about one rule share an answer.
    ///
    /// - Parameter purpose: What the person reads.
    /// - Returns: Nil if nobody allows it.
    func value(_ number: Int, for purpose: String) async -> SecretBytes? {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting[number, default: []].append(continuation)
                return waiting[number]?.count == 1
            }
            if isFirst { Task { await send(.wanted(number, purpose)) } }
        }
    }
}
#endif
