import Bytes
import Frames
import VaultInterface

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
}

extension FrameBuffer {
    /// Appends a whole frame whose body is what `body` appends.
    package func appendFrame(_ kind: FrameKind, _ body: () -> Void = {}) {
        appendFrame(kind.rawValue, body)
    }
}

/// The first frame from the client: which versions it speaks.
package struct Hello: WireValue, Equatable {
    package var lowest: UInt16
    package var highest: UInt16

    package init(lowest: UInt16 = WireProtocol.version, highest: UInt16 = WireProtocol.version) {
        self.lowest = lowest
        self.highest = highest
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(WireProtocol.magic, lowest, highest)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard try reader.read(UInt32.self) == WireProtocol.magic else { throw FrameError("not this protocol") }
        lowest = try reader.read()
        highest = try reader.read()
        guard lowest <= highest else { throw FrameError("no version") }
        // A later version may say more in its greeting; what follows is not looked at.
    }
}

/// The server's answer: the version to be spoken, and whom it takes the client for.
package struct Welcome: WireValue, Equatable {
    package var version: UInt16
    package var caller: CallerDescription

    package init(version: UInt16 = WireProtocol.version, caller: CallerDescription) {
        self.version = version
        self.caller = caller
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(version, caller) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        version = try reader.read()
        caller = try reader.read()
    }
}
