import Bytes
import FoundationEssentials

/// Reads a file from its beginning. Numbers have their least significant byte first, as in KeePass's files.
struct ByteReader {
    private let bytes: Data
    private(set) var position: Int

    init(_ bytes: Data) { (self.bytes, position) = (bytes, bytes.startIndex) }

    var isAtEnd: Bool { position == bytes.endIndex }

    /// What was read.
    var consumed: Data { Data(bytes[bytes.startIndex..<position]) }

    /// Returns the next bytes; nil if there are fewer.
    mutating func take(_ count: Int) -> Data? {
        guard count >= 0, count <= bytes.endIndex - position else { return nil }
        defer { position += count }
        return Data(bytes[position..<position + count])
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        take(MemoryLayout<Number>.size).map { Number(littleEndianBytes: $0) }
    }

    /// Returns bytes behind their number, which is of a type.
    mutating func counted<Number: FixedWidthInteger>(_ type: Number.Type) -> Data? {
        guard let count = number(type), let count = Int(exactly: count) else { return nil }
        return take(count)
    }

    mutating func rest() -> Data {
        defer { position = bytes.endIndex }
        return Data(bytes[position...])
    }
}

extension FixedWidthInteger {
    /// The integer with these bytes, the least significant first.
    init(littleEndianBytes bytes: some BidirectionalCollection<UInt8>) {
        self = bytes.reversed().reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }

    var littleEndianBytes: [UInt8] { Swift.withUnsafeBytes(of: littleEndian) { Array($0) } }
}
