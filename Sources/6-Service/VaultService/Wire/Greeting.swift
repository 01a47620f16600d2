import Bytes
import DaemonLink
import Frames
import VaultInterface

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
