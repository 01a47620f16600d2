import Bytes
import Frames

/// The fields that only this protocol has. ``FrameBuffer`` writes them.
extension FrameReader {
    package mutating func string() throws(FrameError) -> String { try string(limit: FrameLimits.text) }

    package mutating func secret() throws(FrameError) -> SecretBytes { try secret(limit: FrameLimits.key) }

    package mutating func value() throws(FrameError) -> SQLValue {
        switch try integer(UInt8.self) {
        case 0: return .null
        case 1: return .integer(try integer())
        case 2: return .real(Double(bitPattern: try integer()))
        case 3: return .text(Array(try counted(limit: FrameLimits.value)))
        case 4: return .blob(Array(try counted(limit: FrameLimits.value)))
        default: throw FrameError("an unknown type of value")
        }
    }

    /// - Parameter limit: The largest number of values. Each takes at least one byte.
    package mutating func values(limit: Int = FrameLimits.columns) throws(FrameError) -> [SQLValue] {
        try values(count: try count(limit: limit))
    }

    package mutating func values(count: Int) throws(FrameError) -> [SQLValue] {
        guard count <= remaining else { throw FrameError("the message ends early") }
        var values: [SQLValue] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try value()) }
        return values
    }
}
