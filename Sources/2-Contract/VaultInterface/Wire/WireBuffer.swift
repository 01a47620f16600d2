import Glibc
import KeychainModel

/// Bytes on their way to or from a socket, which may be secrets: wiped wherever they have been when the
/// buffer grows or goes away.
///
/// For one thread at a time.
package final class WireBuffer {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    package private(set) var count = 0

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
        free(base)
    }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Wipes the contents and keeps the room.
    package func removeAll() {
        explicit_bzero(base, count)
        count = 0
    }

    /// Wipes the contents, and gives room back beyond what a common message needs.
    package func recycle() {
        removeAll()
        guard capacity > 1 << 17 else { return }
        free(base)
        capacity = 512
        base = Self.allocate(capacity)
    }

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
    package func append<Integer: FixedWidthInteger>(_ integer: Integer) {
        withUnsafeBytes(of: integer.bigEndian) { appendRaw($0) }
    }

    /// Appends what `fill` puts into `room` bytes at the end; it returns how many it did.
    package func append(room: Int, fill: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        reserve(room)
        let filled = fill(UnsafeMutableRawBufferPointer(start: base + count, count: room))
        if filled > 0 { count += min(filled, room) }
        return filled
    }

    /// Overwrites four bytes that are there, such as a length that is known only afterwards.
    package func overwrite(_ integer: UInt32, at place: Int) {
        guard place >= 0, place + 4 <= count else { return }
        (base + place).storeBytes(of: integer.bigEndian, as: UInt32.self)
    }

    /// Takes bytes away from the start.
    package func removeFirst(_ number: Int) {
        let rest = count - number
        guard number > 0, rest >= 0 else { return }
        memmove(base, base + number, rest)
        explicit_bzero(base + rest, number)
        count = rest
        if rest == 0 { recycle() }
    }

    private func reserve(_ room: Int) {
        guard capacity - count < room else { return }
        let grown = max(capacity * 2, count + room)
        let next = Self.allocate(grown)
        memcpy(next, base, count)
        explicit_bzero(base, count)
        free(base)
        base = next
        capacity = grown
    }

    private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
        // Sizes are bounded by the frame limit. Without so much memory Swift's own containers end the
        // process too.
        UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    }

    private func free(_ pointer: UnsafeMutableRawPointer) {
        pointer.deallocate()
    }
}
