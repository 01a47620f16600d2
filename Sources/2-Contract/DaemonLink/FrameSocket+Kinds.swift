import Frames

extension FrameSocket {
    /// Reads one frame of the daemon's protocol, as ``FrameSocket/receiveFrame(into:limit:first:rest:admit:)`` does.
    package func receive(
        into frame: FrameBuffer, limit: Int, first: Duration?, rest: Duration,
        admit: (Int) throws(SocketError) -> Void = { _ throws(SocketError) in }
    ) throws(SocketError) -> FrameKind {
        try receiveFrame(into: frame, limit: limit, first: first, rest: rest, admit: admit)
        return try Self.kind(of: frame)
    }

    /// What ``receiveAvailable(into:limit:admit:)`` found.
    package enum KindReception {
        case frame(FrameKind)
        /// The frame, or its rest, has not come.
        case incomplete
        /// There is no room for more of it.
        case refused
    }

    /// Reads one frame of the daemon's protocol if all of it has come, and waits for nothing.
    ///
    /// - Parameter admit: Whether a long frame may take so much room.
    package func receiveAvailable(
        into frame: FrameBuffer, limit: Int, admit: (Int) -> Bool = { _ in true }
    ) throws(SocketError) -> KindReception {
        switch try receiveAvailableFrame(into: frame, limit: limit, admit: admit) {
        case .frame: .frame(try Self.kind(of: frame))
        case .incomplete: .incomplete
        case .refused: .refused
        }
    }

    private static func kind(of frame: FrameBuffer) throws(SocketError) -> FrameKind {
        guard let kind = FrameKind(rawValue: frame.bytes[0]) else {
            throw .malformed(FrameError("unknown kind of frame"))
        }
        return kind
    }
}
