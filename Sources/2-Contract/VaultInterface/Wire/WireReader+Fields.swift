import Bytes
import CLibrary
import FoundationEssentials
import Frames

/// The fields that only this protocol has.
extension FrameReader {
    package mutating func data() throws(FrameError) -> Data { Data(try counted()) }

    /// Data that may be a secret: wiped when the last copy of it goes.
    package mutating func value() throws(FrameError) -> Data {
        let bytes = try counted()
        guard let source = bytes.baseAddress, bytes.count > 0 else { return Data() }
        guard let copy = malloc(bytes.count) else { throw FrameError("no memory for a value") }
        memcpy(copy, source, bytes.count)
        return .wipedWhenFreed(adopting: copy, count: bytes.count)
    }

    package mutating func string() throws(FrameError) -> String { try string(limit: .max) }

    package mutating func secret() throws(FrameError) -> SecretBytes { try secret(limit: WireLimits.secret) }

    package mutating func real() throws(FrameError) -> Double {
        Double(bitPattern: try integer(UInt64.self))
    }

    package mutating func date() throws(FrameError) -> Date {
        let seconds = try real()
        guard seconds.isFinite else { throw FrameError("not a date") }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    package mutating func uuid() throws(FrameError) -> UUID {
        let bytes = try take(16)
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    package mutating func strings(limit: Int) throws(FrameError) -> [String] {
        try list(limit: limit) { reader throws(FrameError) in try reader.string() }
    }
}
