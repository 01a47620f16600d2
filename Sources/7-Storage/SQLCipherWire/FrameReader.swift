import KeychainModel

/// Reads fields from a frame, which may end too early or hold any bytes.
package struct FrameReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// - Parameter bytes: The body of a frame, which must outlive this value.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Checks that nothing follows.
    package func finish() throws(FrameError) {
        guard position == bytes.count else { throw FrameError("bytes after the end of a frame") }
    }

    private mutating func take(_ count: Int) throws(FrameError) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - position else { throw FrameError("a frame ends early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
    }

    package mutating func integer<Integer: FixedWidthInteger>(
        _: Integer.Type = Integer.self
    ) throws(FrameError) -> Integer {
        Integer(bigEndian: try take(MemoryLayout<Integer>.size).loadUnaligned(as: Integer.self))
    }

    package mutating func bool() throws(FrameError) -> Bool {
        switch try integer(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw FrameError("neither yes nor no")
        }
    }

    /// Returns the number of the following elements, at most `limit`.
    package mutating func count(limit: Int) throws(FrameError) -> Int {
        let count = Int(try integer(UInt32.self))
        guard count <= limit else { throw FrameError("too many elements") }
        return count
    }

    package mutating func counted(limit: Int) throws(FrameError) -> UnsafeRawBufferPointer {
        try take(try count(limit: limit))
    }

    package mutating func string(limit: Int = FrameLimits.text) throws(FrameError) -> String {
        guard let string = String(validating: try counted(limit: limit), as: UTF8.self) else {
            throw FrameError("a text is not UTF-8")
        }
        return string
    }

    package mutating func secret() throws(FrameError) -> SecretBytes {
        let bytes = try counted(limit: FrameLimits.key)
        guard let secret = try? SecretBytes(copying: bytes) else { throw FrameError("no memory for a key") }
        return secret
    }

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
        guard count <= bytes.count - position else { throw FrameError("a frame ends early") }
        var values: [SQLValue] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try value()) }
        return values
    }
}
