import Bytes
import DatabaseVFS

/// The shared index of a log, as this connection maps it (https://sqlite.org/walformat.html, 2).
///
/// Numbers are in the machine's byte order. The header is there twice. A reader that finds different copies waits for
/// the writer, or makes the index anew if there is none.
struct SharedIndex {
    private var regions: [UnsafeMutableRawPointer?] = []

    /// The size of one copy of the header.
    private static let header = 48
    // Offsets in the header.
    private static let lastFrame = 16
    private static let frameChecksum = 24
    private static let salts = 32
    private static let ownChecksum = 40
    /// The bytes before the page numbers in the first region: both headers, and the marks of readers.
    private static let start = 136
    /// The page numbers in a region, and in the first one.
    private static let numbers = 4096
    private static let firstNumbers = numbers - start / 4

    mutating func map(_ region: Int32, at address: UnsafeMutableRawPointer?) {
        let region = Int(region)
        if region >= regions.count {
            regions += [UnsafeMutableRawPointer?](repeating: nil, count: region + 1 - regions.count)
        }
        regions[region] = address
    }

    /// Returns the page in a frame; nil if that part of the index is not mapped.
    func page(inFrame frame: UInt32) -> UInt32? {
        let index = Int(frame) - 1
        let (region, place) =
            index < Self.firstNumbers
            ? (0, Self.start + 4 * index)
            : (1 + (index - Self.firstNumbers) / Self.numbers, 4 * ((index - Self.firstNumbers) % Self.numbers))
        guard region < regions.count, let address = regions[region] else { return nil }
        return address.load(fromByteOffset: place, as: UInt32.self)
    }

    /// Corrects the checksum of the last frame in one copy of the header.
    ///
    /// - Parameter stored: Returns the salts and the checksum of a frame in the log.
    func mend(
        copy: Int, _ stored: (UInt32) throws(VFSFailure) -> (salts: UInt64, checksum: LogChecksum)?
    ) throws(VFSFailure) {
        guard let header = regions.first.flatMap({ $0 }).map({ $0 + copy * Self.header }) else { return }
        let frame = header.load(fromByteOffset: Self.lastFrame, as: UInt32.self)
        guard frame > 0, isWhole(header), let (salts, checksum) = try stored(frame),
            // The salts are copied from the log as bytes.
            salts.bigEndian == header.load(fromByteOffset: Self.salts, as: UInt64.self)
        else { return }
        let present = LogChecksum(
            first: header.load(fromByteOffset: Self.frameChecksum, as: UInt32.self),
            second: header.load(fromByteOffset: Self.frameChecksum + 4, as: UInt32.self))
        guard present != checksum else { return }
        header.storeBytes(of: checksum.first, toByteOffset: Self.frameChecksum, as: UInt32.self)
        header.storeBytes(of: checksum.second, toByteOffset: Self.frameChecksum + 4, as: UInt32.self)
        let own = Self.checksum(of: header)
        header.storeBytes(of: own.first, toByteOffset: Self.ownChecksum, as: UInt32.self)
        header.storeBytes(of: own.second, toByteOffset: Self.ownChecksum + 4, as: UInt32.self)
    }

    private func isWhole(_ header: UnsafeRawPointer) -> Bool {
        Self.checksum(of: header)
            == LogChecksum(
                first: header.load(fromByteOffset: Self.ownChecksum, as: UInt32.self),
                second: header.load(fromByteOffset: Self.ownChecksum + 4, as: UInt32.self))
    }

    private static func checksum(of header: UnsafeRawPointer) -> LogChecksum {
        var checksum = LogChecksum(first: 0, second: 0)
        checksum.add(UnsafeRawBufferPointer(start: header, count: ownChecksum), bigEndian: false)
        return checksum
    }
}

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
