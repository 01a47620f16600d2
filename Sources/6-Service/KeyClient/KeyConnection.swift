import CLibrary
import DaemonLink
import Frames
import PlainBytes

/// A connection to a daemon, for one thread at a time.
final class KeyConnection {
    private let socket: FrameSocket
    private let outgoing = FrameBuffer()
    private let incoming = FrameBuffer()
    /// All groups that the program holds; new items go to the first.
    private let groups: [String]
    private static let mostGroups = 1024

    /// What came of a call.
    enum Outcome {
        case answered
        case refused(KeyClientError)
        /// The daemon went away, or its answer cannot be read. It may have done what it was asked all the same.
        case lost(reason: String)
    }

    init(_ greeting: DaemonGreeting) throws(KeyClientError) {
        socket = greeting.socket
        var reader = FrameReader(greeting.frame, from: 1)
        guard greeting.kind == .welcome else {
            throw (try? KeyClientError(refusal: &reader))
                ?? .unreachable(
                    reason: "the daemon's refusal cannot be read: install daemon and module from one release")
        }
        do throws(FrameError) {
            // The version, and whom the daemon takes the program for.
            _ = try reader.integer(UInt16.self)
            _ = try reader.counted()
            groups = try reader.list(limit: Self.mostGroups) { (reader) throws(FrameError) in
                try reader.string(limit: .max)
            }
        } catch {
            throw .unreachable(
                reason: "the daemon's greeting cannot be read: install daemon and module from one release")
        }
    }

    var isUsable: Bool { socket.isQuiet }

    /// Sends a request and reads the answer.
    ///
    /// - Parameters:
    ///   - operation: The number of the operation.
    ///   - asker: What asks a person; nil if nobody can be asked here.
    ///   - write: Appends its fields.
    ///   - part: Takes each part of the answer.
    ///   - reply: Takes its end.
    func perform(
        _ operation: UInt8, _ asker: KeyClient.Asker?, _ write: (FrameBuffer) -> Void,
        part: (inout FrameReader) throws(FrameError) -> Void,
        reply: (inout FrameReader) throws(FrameError) -> Void
    ) -> Outcome {
        defer {
            outgoing.recycle()
            incoming.recycle()
        }
        outgoing.appendFrame(.request) {
            outgoing.append(operation)
            outgoing.append(asker != nil)
            outgoing.append("")
            outgoing.append(list: groups) { outgoing.append($0) }
            write(outgoing)
        }
        guard outgoing.count <= WireProtocol.longestFrame + 4 else { return .refused(.tooLarge) }
        do throws(SocketError) {
            try socket.send(outgoing, within: WireProtocol.patience + .seconds(outgoing.count >> 20))
            outgoing.removeAll()
            return try receive(asker, part, reply)
        } catch {
            return .lost(reason: "the vault's daemon went away before it answered")
        }
    }

    private func receive(
        _ asker: KeyClient.Asker?,
        _ part: (inout FrameReader) throws(FrameError) -> Void, _ reply: (inout FrameReader) throws(FrameError) -> Void
    ) throws(SocketError) -> Outcome {
        do {
            while true {
                // No deadline: a daemon that is there works, or waits for a person, for which it has a deadline.
                let kind = try socket.receive(
                    into: incoming, limit: WireProtocol.longestFrame, first: nil, rest: WireProtocol.patience)
                var reader = FrameReader(incoming, from: 1)
                switch kind {
                case .part: try part(&reader)
                case .result:
                    // The number of parts.
                    _ = try reader.integer(UInt32.self)
                    try reply(&reader)
                    try reader.finish()
                    return .answered
                case .failure: return .refused(try KeyClientError(refusal: &reader))
                // What a person should see beside a question, and the end of one that is answered already.
                case .message, .retraction: break
                case .question: try ask(asker)
                default: throw FrameError("unexpected frame")
                }
            }
        } catch let error as SocketError {
            throw error
        } catch {
            return .lost(reason: "the daemon's answer cannot be read: install daemon and module from one release")
        }
    }
}

extension KeyConnection {
    /// Passes the daemon's question to the program that asks a person, and its answer to the daemon. The question ends
    /// without an answer when the daemon sends another frame.
    private func ask(_ asker: KeyClient.Asker?) throws(SocketError) {
        let answer = FrameBuffer()
        if let other = asker?() {
            outgoing.removeAll()
            let body = UnsafeRawBufferPointer(rebasing: incoming.bytes.dropFirst())
            outgoing.appendFrame(.question) { outgoing.appendRaw(body) }
            try? other.send(outgoing, within: WireProtocol.patience)
            outgoing.removeAll()
            var entries = [other.descriptor, socket.descriptor].map {
                pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
            }
            while poll(&entries, 2, -1) < 0, errno == EINTR {}
            // The daemon sent something or is gone. Closing the other socket takes the question from the screen.
            if entries[1].revents != 0 { return }
            let kind = try? other.receive(
                into: answer, limit: WireProtocol.longestFrame, first: WireProtocol.patience,
                rest: WireProtocol.patience)
            if kind != .answer { answer.removeAll() }
        }
        outgoing.appendFrame(.answer) {
            if answer.count > 1 {
                outgoing.appendRaw(UnsafeRawBufferPointer(rebasing: answer.bytes.dropFirst()))
            } else {
                // Canceled.
                outgoing.append(UInt8(2))
            }
        }
        try socket.send(outgoing, within: WireProtocol.patience)
        outgoing.removeAll()
    }
}

extension FrameReader {
    /// Reads bytes without a count in front.
    mutating func bytes(_ count: Int) throws(FrameError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<count { bytes.append(try integer()) }
        return bytes
    }
}
