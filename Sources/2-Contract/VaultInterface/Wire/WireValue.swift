import Bytes
import CLibrary
import FoundationEssentials
import Frames

/// Something that has a form on the wire, in which it can be written and read.
package protocol WireValue: Sendable {
    func encode(to buffer: FrameBuffer)

    /// Reads what ``encode(to:)`` wrote. What follows it stays for the next to read.
    init(from reader: inout FrameReader) throws(FrameError)
}

extension FrameBuffer {
    /// Appends values, one after the other.
    package func write<each Value: WireValue>(_ value: repeat each Value) {
        repeat (each value).encode(to: self)
    }

    /// Appends the number of a case, and what the case holds.
    func write<each Value: WireValue>(code: UInt8, _ value: repeat each Value) {
        append(code)
        repeat (each value).encode(to: self)
    }

    /// Appends the number of the values, and the values.
    package func write(list values: some Collection<some WireValue>) {
        append(list: values) { $0.encode(to: self) }
    }
}

extension FrameReader {
    package mutating func read<Value: WireValue>(_: Value.Type = Value.self) throws(FrameError) -> Value {
        try Value(from: &self)
    }

    package mutating func list<Value: WireValue>(limit: Int) throws(FrameError) -> [Value] {
        try list(limit: limit, Value.init(from:))
    }

    /// Reads a number of one byte.
    ///
    /// - Parameters:
    ///   - what: Names what the number stands for, in the error about an unknown one.
    ///   - value: Returns what a number stands for; nil for an unknown one.
    mutating func coded<Value>(_ what: String, _ value: (UInt8) -> Value?) throws(FrameError) -> Value {
        guard let value = value(try integer()) else { throw FrameError("unknown \(what)") }
        return value
    }

    /// Reads the value of an item, which may be a secret: it is wiped when the last copy of it goes.
    mutating func itemValue() throws(FrameError) -> Data? {
        guard try bool() else { return nil }
        let bytes = try counted()
        guard let source = bytes.baseAddress, bytes.count > 0 else { return Data() }
        guard let copy = malloc(bytes.count) else { throw FrameError("no memory for a value") }
        memcpy(copy, source, bytes.count)
        return .wipedWhenFreed(adopting: copy, count: bytes.count)
    }
}

/// Whether there is a value, and the value.
extension Optional: WireValue where Wrapped: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(optional: self) { $0.encode(to: buffer) } }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.bool() ? try Wrapped(from: &reader) : nil
    }
}

// MARK: Numbers, text and bytes

extension WireValue where Self: FixedWidthInteger & BitwiseCopyable {
    package func encode(to buffer: FrameBuffer) { buffer.append(self) }
    package init(from reader: inout FrameReader) throws(FrameError) { self = try reader.integer() }
}

extension UInt8: WireValue {}
extension UInt16: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}
extension Int64: WireValue {}

/// A number of items: 8 bytes.
extension Int: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(UInt64(clamping: self)) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(clamping: try reader.integer(UInt64.self))
    }
}

extension Bool: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(self) }
    package init(from reader: inout FrameReader) throws(FrameError) { self = try reader.bool() }
}

extension Double: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(bitPattern) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(bitPattern: try reader.integer(UInt64.self))
    }
}

extension Date: WireValue {
    package func encode(to buffer: FrameBuffer) { timeIntervalSinceReferenceDate.encode(to: buffer) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let seconds = try Double(from: &reader)
        guard seconds.isFinite else { throw FrameError("not a date") }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
}

extension UUID: WireValue {
    package func encode(to buffer: FrameBuffer) {
        withUnsafeBytes(of: uuid) { buffer.appendRaw($0) }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(uuid: try reader.take(16).loadUnaligned(as: uuid_t.self))
    }
}

extension String: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(self) }
    package init(from reader: inout FrameReader) throws(FrameError) { self = try reader.string(limit: .max) }
}

extension Data: WireValue {
    package func encode(to buffer: FrameBuffer) {
        withUnsafeBytes { buffer.append(counted: $0) }
    }

    package init(from reader: inout FrameReader) throws(FrameError) { self.init(try reader.counted()) }
}

extension SecretBytes: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(self) }

    package convenience init(from reader: inout FrameReader) throws(FrameError) {
        let bytes = try reader.counted(limit: WireLimits.secret)
        do {
            try self.init(copying: bytes)
        } catch {
            throw FrameError("no memory for a secret")
        }
    }
}

// MARK: Values without fields

/// A value that takes no room on the wire, such as an operation that takes nothing.
package protocol EmptyWireValue: WireValue {
    init()
}

extension EmptyWireValue {
    package func encode(to buffer: FrameBuffer) {}
    package init(from reader: inout FrameReader) throws(FrameError) { self.init() }
}

extension Never: WireValue {
    package func encode(to buffer: FrameBuffer) {}

    package init(from reader: inout FrameReader) throws(FrameError) {
        throw FrameError("a part of an answer that has none")
    }
}
