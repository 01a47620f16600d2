import Frames

/// The kinds of frames. A frame is a length (4 bytes, of what follows), a kind (1 byte), and a body.
package enum FrameKind: UInt8, Sendable, CaseIterable {
    // From the client.
    case hello = 0x01
    case request = 0x02
    case answer = 0x03
    // From the server.
    case welcome = 0x81
    case result = 0x82
    case failure = 0x83
    case question = 0x84
    case part = 0x85
    case change = 0x86
    case message = 0x87
    case retraction = 0x88
    case lock = 0x89
}

package enum WireProtocol {
    /// What the first frame of a connection begins with: "KCHN".
    package static let magic: UInt32 = 0x4B43_484E
    package static let version: UInt16 = 4
    /// The longest frame after its length field: an identity's two values of 16 MiB, their attributes of
    /// 1 MiB each, and 2 MiB for the rest.
    package static let longestFrame = 36 << 20
    /// How long the other side may take to greet, or with a transfer that has begun.
    package static let patience = Duration.seconds(10)
}

extension FrameBuffer {
    /// Appends a whole frame whose body is what `body` appends.
    package func appendFrame(_ kind: FrameKind, _ body: () -> Void = {}) {
        appendFrame(kind.rawValue, body)
    }
}
