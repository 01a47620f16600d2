import Bytes
import CLibrary
import Frames

/// A reader of frames from a descriptor.
///
/// For one thread at a time.
package final class FrameInput {
    private let descriptor: Int32
    private let buffer = FrameBuffer(capacity: 1 << 16)

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The result of reading a frame.
    package enum Outcome {
        case frame(HelperFrameKind)
        /// The other side has closed its end, between frames or within one.
        case end
        /// No whole frame has arrived yet.
        case nothing
    }

    /// Passes the next frame to `body`. The frame's bytes are valid only while `body` runs.
    ///
    /// - Parameter isWaiting: Whether to wait for a frame.
    package func next(
        waiting isWaiting: Bool = true, _ body: (HelperFrameKind, inout FrameReader) throws(FrameError) -> Void
    ) throws(FrameError) -> Outcome {
        while true {
            if let length = try length(), buffer.count >= 4 + length {
                guard let kind = HelperFrameKind(rawValue: buffer.bytes[4]) else {
                    throw FrameError("an unknown kind of frame")
                }
                var reader = FrameReader(buffer, from: 5, to: 4 + length)
                defer { buffer.removeFirst(4 + length) }
                try body(kind, &reader)
                return .frame(kind)
            }
            if !isWaiting {
                var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&polled, 1, 0) > 0 else { return .nothing }
            }
            guard try fill() else { return .end }
        }
    }

    private func length() throws(FrameError) -> Int? {
        guard buffer.count >= 4 else { return nil }
        let length = Int(UInt32(bigEndianBytes: buffer.bytes[..<4]))
        guard length >= 1 else { throw FrameError("an empty frame") }
        guard length <= FrameLimits.frame else { throw FrameError("a frame is too long") }
        return length
    }

    private func fill() throws(FrameError) -> Bool {
        // Allocates room for received bytes, not for the announced length.
        let room = max(1 << 16, min(buffer.count, 1 << 24))
        let count = buffer.append(room: room) { room in
            SystemCall.retryOnInterrupt { read(descriptor, room.baseAddress, room.count) }
        }
        if count >= 0 { return count > 0 }
        switch errno {
        case ECONNRESET: return false
        case let code: throw FrameError("cannot read: \(String(cString: strerror(code)))")
        }
    }
}
