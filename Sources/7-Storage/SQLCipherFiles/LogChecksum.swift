import Bytes

/// The checksum of a log, which each frame continues (https://sqlite.org/fileformat2.html, 4.2).
struct LogChecksum: Equatable {
    var first: UInt32
    var second: UInt32

    /// The eight bytes in a frame's header, as a big-endian number.
    var number: UInt64 { UInt64(first) << 32 | UInt64(second) }

    init(first: UInt32, second: UInt32) { (self.first, self.second) = (first, second) }

    init(number: UInt64) {
        self.init(first: UInt32(truncatingIfNeeded: number >> 32), second: UInt32(truncatingIfNeeded: number))
    }

    /// - Parameter bytes: A multiple of eight bytes.
    mutating func add(_ bytes: UnsafeRawBufferPointer, bigEndian: Bool) {
        for place in stride(from: 0, to: bytes.count & ~7, by: 8) {
            let words = (
                bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self),
                bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            )
            first &+= (bigEndian ? words.0.bigEndian : words.0) &+ second
            second &+= (bigEndian ? words.1.bigEndian : words.1) &+ first
        }
    }
}
