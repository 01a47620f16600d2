import CLibrary
import PlainBytes

/// Bytes to send to another process, or received ones.
///
/// They may be secrets, so the buffer wipes its memory when it grows and when it ends.
///
/// For one thread at a time.
package final class FrameBuffer {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    package private(set) var count = 0

    /// What a common frame needs; ``recycle()`` gives back what is more than that.
    private static let commonCapacity = 1 << 17

    package init(capacity: Int = 512) {
        self.capacity = max(capacity, 64)
        base = Self.allocate(self.capacity)
    }

    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(capacity: bytes.count)
        appendRaw(bytes)
    }

    deinit {
        removeAll()
        base.deallocate()
    }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Wipes the contents and keeps the room.
    package func removeAll() {
        explicit_bzero(base, count)
        count = 0
    }

    /// Wipes the contents, and frees memory beyond the size of a common frame.
    package func recycle() {
        removeAll()
        guard capacity > Self.commonCapacity else { return }
        base.deallocate()
        capacity = 512
        base = Self.allocate(capacity)
    }

    @usableFromInline
    package func appendRaw(_ raw: UnsafeRawBufferPointer) {
        guard let source = raw.baseAddress, raw.count > 0 else { return }
        reserve(raw.count)
        memcpy(base + count, source, raw.count)
        count += raw.count
    }

    /// Appends bytes without their number.
    package func appendRaw(_ bytes: some Collection<UInt8>) {
        let isContiguous: Void? = bytes.withContiguousStorageIfAvailable { appendRaw(UnsafeRawBufferPointer($0)) }
        if isContiguous == nil { for byte in bytes { append(byte) } }
    }

    /// Appends an integer, most significant byte first.
    @inlinable
    package func append<Integer: FixedWidthInteger>(_ integer: Integer) {
        withUnsafeBytes(of: integer.bigEndian) { appendRaw($0) }
    }

    /// Appends the bytes that `fill` writes into `room` bytes at the end. `fill` returns their number, or a negative
    /// number.
    package func append(room: Int, fill: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        reserve(room)
        let filled = fill(UnsafeMutableRawBufferPointer(start: base + count, count: room))
        if filled > 0 { count += min(filled, room) }
        return filled
    }

    /// Overwrites four bytes, for example with a length that is known only later.
    package func overwrite(_ integer: UInt32, at place: Int) {
        guard place >= 0, place + 4 <= count else { return }
        base.store(bigEndian: integer, at: place)
    }

    /// Removes and wipes bytes at the start.
    package func removeFirst(_ number: Int) {
        let rest = count - number
        guard number > 0, rest >= 0 else { return }
        memmove(base, base + number, rest)
        explicit_bzero(base + rest, number)
        count = rest
        if rest == 0 { recycle() }
    }

    /// Removes and wipes bytes at the end.
    package func removeLast(_ number: Int) {
        guard number > 0, number <= count else { return }
        count -= number
        explicit_bzero(base + count, number)
    }

    private func reserve(_ room: Int) {
        guard capacity - count < room else { return }
        let grown = max(capacity * 2, count + room)
        let next = Self.allocate(grown)
        memcpy(next, base, count)
        explicit_bzero(base, count)
        base.deallocate()
        base = next
        capacity = grown
    }

    private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
        // Sizes are bounded by the limits of frames. Without so much memory Swift's own containers end the process too.
        UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    }
}

/// The fields of messages. ``FrameReader`` reads them.
extension FrameBuffer {
    @usableFromInline
    package func append(_ bool: Bool) { append(UInt8(truncatingIfNeeded: bool ? 1 : 0)) }

    /// Appends the number of the bytes, and the bytes.
    package func append(counted bytes: UnsafeRawBufferPointer) {
        append(UInt32(truncatingIfNeeded: bytes.count))
        appendRaw(bytes)
    }

    package func append(_ string: String) {
        var string = string
        string.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }

    package func append(_ secret: SecretBytes) {
        secret.withUnsafeBytes { append(counted: $0) }
    }

    @inlinable
    package func append<Value>(optional value: Value?, _ write: (Value) -> Void) {
        append(value != nil)
        if let value { write(value) }
    }

    @inlinable
    package func append<Value>(list values: some Collection<Value>, _ write: (Value) -> Void) {
        append(UInt32(truncatingIfNeeded: values.count))
        for value in values { write(value) }
    }

    /// Appends a whole frame: its length, its kind, and what `body` appends.
    package func appendFrame(_ kind: UInt8, _ body: () -> Void) {
        let start = count
        append(UInt32(0))
        append(kind)
        body()
        overwrite(UInt32(truncatingIfNeeded: count - start - 4), at: start)
    }
}
