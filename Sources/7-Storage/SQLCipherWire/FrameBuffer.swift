import Glibc
import KeychainModel

/// Frames to send, or received frames. They may hold keys and private data, so the buffer wipes its memory when it
/// grows and when it ends.
///
/// For one thread at a time.
package final class FrameBuffer {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int = 1024) {
        self.capacity = max(capacity, 64)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    package convenience init(_ bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        bytes.withUnsafeBytes { append(raw: $0) }
    }

    deinit {
        removeAll()
        base.deallocate()
    }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Wipes the contents, and frees memory beyond the size of a common frame.
    package func removeAll() {
        explicit_bzero(base, count)
        count = 0
        guard capacity > 1 << 18 else { return }
        base.deallocate()
        capacity = 1024
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    /// Removes and wipes bytes at the start.
    package func removeFirst(_ number: Int) {
        let rest = count - number
        guard number > 0, rest >= 0 else { return }
        guard rest > 0 else { return removeAll() }
        memmove(base, base + number, rest)
        explicit_bzero(base + rest, number)
        count = rest
    }

    /// Removes and wipes bytes at the end.
    package func removeLast(_ number: Int) {
        guard number > 0, number <= count else { return }
        count -= number
        explicit_bzero(base + count, number)
    }

    package func append(raw bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        memcpy(base + count, source, bytes.count)
        count += bytes.count
    }

    /// Appends the bytes that `fill` writes into `room` bytes at the end. `fill` returns their number, or a negative
    /// number.
    package func append(room: Int, fill: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        reserve(room)
        let filled = fill(UnsafeMutableRawBufferPointer(start: base + count, count: room))
        if filled > 0 { count += min(filled, room) }
        return filled
    }

    package func append<Integer: FixedWidthInteger>(_ integer: Integer) {
        reserve(MemoryLayout<Integer>.size)
        (base + count).storeBytes(of: integer.bigEndian, as: Integer.self)
        count += MemoryLayout<Integer>.size
    }

    /// Overwrites four bytes, for example with a number that is known only later.
    package func overwrite(_ integer: UInt32, at place: Int) {
        guard place >= 0, place + 4 <= count else { return }
        (base + place).storeBytes(of: integer.bigEndian, as: UInt32.self)
    }

    private func reserve(_ room: Int) {
        guard capacity - count < room else { return }
        let grown = max(capacity * 2, count + room)
        let next = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
        memcpy(next, base, count)
        explicit_bzero(base, count)
        base.deallocate()
        base = next
        capacity = grown
    }
}

/// The fields of frames. ``FrameReader`` reads them.
extension FrameBuffer {
    /// Appends a whole frame with the body that `body` appends.
    package func appendFrame(_ kind: FrameKind, _ body: () -> Void = {}) {
        let start = count
        append(UInt32(0))
        append(kind.rawValue)
        body()
        overwrite(UInt32(truncatingIfNeeded: count - start - 4), at: start)
    }

    package func append(_ bool: Bool) { append(UInt8(bool ? 1 : 0)) }

    package func append(counted bytes: UnsafeRawBufferPointer) {
        append(UInt32(truncatingIfNeeded: bytes.count))
        append(raw: bytes)
    }

    package func append(_ string: String) {
        var string = string
        string.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }

    package func append(_ secret: SecretBytes) {
        secret.withUnsafeBytes { append(counted: $0) }
    }

    /// Appends a type (1 byte), and then nothing, 8 bytes, or a count and that many bytes.
    package func append(_ value: SQLValue) {
        switch value {
        case .null: append(UInt8(0))
        case .integer(let integer):
            append(UInt8(1))
            append(integer)
        case .real(let real):
            append(UInt8(2))
            append(real.bitPattern)
        case .text(let bytes):
            append(UInt8(3))
            bytes.withUnsafeBytes { append(counted: $0) }
        case .blob(let bytes):
            append(UInt8(4))
            bytes.withUnsafeBytes { append(counted: $0) }
        }
    }
}
