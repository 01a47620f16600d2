import PlainBytes

/// Reads fields from a message, which may end too early or hold any bytes.
package struct FrameReader {
    private let buffer: FrameBuffer
    private var position: Int
    private let end: Int

    /// - Parameters:
    ///   - start: Where in the buffer the message begins.
    ///   - end: Where it ends; nil for the end of the buffer.
    package init(_ buffer: FrameBuffer, from start: Int = 0, to end: Int? = nil) {
        self.buffer = buffer
        self.end = min(end ?? buffer.count, buffer.count)
        position = min(start, self.end)
    }

    /// How many bytes are not read yet.
    package var remaining: Int { end - position }

    /// Checks that nothing follows.
    package func finish() throws(FrameError) {
        guard remaining == 0 else { throw FrameError("bytes after the message") }
    }

    /// The next bytes, which must not be used any more when the buffer changes.
    @usableFromInline
    package mutating func take(_ count: Int) throws(FrameError) -> UnsafeRawBufferPointer {
        guard count <= remaining else { throw FrameError("the message ends early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: buffer.bytes[position..<(position + count)])
    }

    @inlinable
    package mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _: Integer.Type = Integer.self
    ) throws(FrameError) -> Integer {
        try take(MemoryLayout<Integer>.size).bigEndian()
    }

    @usableFromInline
    package mutating func bool() throws(FrameError) -> Bool {
        switch try integer(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw FrameError("neither yes nor no")
        }
    }

    /// Returns the number of the following elements, at most `limit`.
    @usableFromInline
    package mutating func count(limit: Int) throws(FrameError) -> Int {
        let count = Int(try integer(UInt32.self))
        guard count <= limit else { throw FrameError("too many elements") }
        return count
    }

    /// Bytes with their number in front. They must not be used any more when the buffer changes.
    package mutating func counted(limit: Int = .max) throws(FrameError) -> UnsafeRawBufferPointer {
        try take(try count(limit: limit))
    }

    package mutating func string(limit: Int) throws(FrameError) -> String {
        guard let string = String(utf8: try counted(limit: limit)) else {
            throw FrameError("not UTF-8")
        }
        return string
    }

    package mutating func secret(limit: Int) throws(FrameError) -> SecretBytes {
        guard let secret = try? SecretBytes(copying: try counted(limit: limit)) else {
            throw FrameError("no memory for a secret")
        }
        return secret
    }

    @inlinable
    package mutating func optional<Value>(
        _ read: (inout FrameReader) throws(FrameError) -> Value
    ) throws(FrameError) -> Value? {
        try bool() ? try read(&self) : nil
    }

    @inlinable
    package mutating func list<Value>(
        limit: Int, _ read: (inout FrameReader) throws(FrameError) -> Value
    ) throws(FrameError) -> [Value] {
        let count = try count(limit: limit)
        var values: [Value] = []
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }
}
