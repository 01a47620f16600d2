import FoundationEssentials
import Glibc
import KeychainModel

/// Reads fields from a message that may end too early or hold anything.
package struct WireReader {
    private let buffer: WireBuffer
    private var position: Int
    private let end: Int

    package init(_ buffer: WireBuffer, from start: Int = 0) {
        self.buffer = buffer
        end = buffer.count
        position = min(start, end)
    }

    var remaining: Int { end - position }

    /// Makes sure that nothing follows.
    package func finish() throws(WireError) {
        guard remaining == 0 else { throw WireError("bytes after the message") }
    }

    private mutating func take(_ count: Int) throws(WireError) -> UnsafeRawBufferPointer {
        guard count <= remaining else { throw WireError("the message ends early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: buffer.bytes[position..<(position + count)])
    }

    package mutating func integer<Integer: FixedWidthInteger>(_: Integer.Type) throws(WireError) -> Integer {
        Integer(bigEndian: try take(MemoryLayout<Integer>.size).loadUnaligned(as: Integer.self))
    }

    package mutating func bool() throws(WireError) -> Bool {
        switch try integer(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw WireError("neither yes nor no")
        }
    }

    /// A number of things to follow, at most `limit`.
    package mutating func count(limit: Int) throws(WireError) -> Int {
        let count = Int(try integer(UInt32.self))
        guard count <= limit else { throw WireError("too many elements") }
        return count
    }

    package mutating func data() throws(WireError) -> Data {
        let bytes = try take(Int(try integer(UInt32.self)))
        return Data(bytes)
    }

    /// Data that may be a secret: wiped when the last copy of it goes.
    package mutating func value() throws(WireError) -> Data {
        let bytes = try take(Int(try integer(UInt32.self)))
        guard let source = bytes.baseAddress, bytes.count > 0 else { return Data() }
        guard let copy = malloc(bytes.count) else { throw WireError("no memory for a value") }
        memcpy(copy, source, bytes.count)
        return .wipedWhenFreed(adopting: copy, count: bytes.count)
    }

    package mutating func string() throws(WireError) -> String {
        let bytes = try take(Int(try integer(UInt32.self)))
        guard let string = String(validating: bytes, as: UTF8.self) else { throw WireError("not UTF-8") }
        return string
    }

    package mutating func secret() throws(WireError) -> SecretBytes {
        let count = Int(try integer(UInt32.self))
        guard count <= WireLimits.secret else { throw WireError("the secret is too long") }
        let bytes = try take(count)
        guard let secret = try? SecretBytes(copying: bytes) else { throw WireError("no memory for a secret") }
        return secret
    }

    package mutating func real() throws(WireError) -> Double {
        Double(bitPattern: try integer(UInt64.self))
    }

    package mutating func date() throws(WireError) -> Date {
        let seconds = try real()
        guard seconds.isFinite else { throw WireError("not a date") }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    package mutating func uuid() throws(WireError) -> UUID {
        let bytes = try take(16)
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    package mutating func optional<Value>(
        _ read: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> Value? {
        try bool() ? try read(&self) : nil
    }

    package mutating func list<Value>(
        limit: Int, _ read: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> [Value] {
        let count = try count(limit: limit)
        var values: [Value] = []
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }

    package mutating func strings(limit: Int) throws(WireError) -> [String] {
        try list(limit: limit) { reader throws(WireError) in try reader.string() }
    }
}
