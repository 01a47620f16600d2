import Bytes
import FoundationEssentials

/// Reads a TPM's structure. Integers are big-endian, and a buffer begins with its size in two bytes (TPM 2.0 Library,
/// Part 1, "Canonical Form").
struct StructureReader {
    private var rest: ArraySlice<UInt8>
    /// The structure's description for errors.
    private let structure: String

    init(_ bytes: Data, of structure: String) {
        rest = [UInt8](bytes)[...]
        self.structure = structure
    }

    var malformed: AttestationError { .malformed(structure) }

    mutating func bytes(_ count: Int) throws(AttestationError) -> Data {
        guard rest.count >= count else { throw malformed }
        defer { rest.removeFirst(count) }
        return Data(rest.prefix(count))
    }

    mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(
        _: Integer.Type = Integer.self
    ) throws(AttestationError) -> Integer {
        try bytes(MemoryLayout<Integer>.size).reduce(0) { $0 << 8 | Integer($1) }
    }

    mutating func buffer(_ sizes: ClosedRange<Int>) throws(AttestationError) -> Data {
        let size = Int(try integer(UInt16.self))
        guard sizes.contains(size) else { throw malformed }
        return try bytes(size)
    }

    /// Checks that nothing follows.
    func finish() throws(AttestationError) {
        guard rest.isEmpty else { throw malformed }
    }
}

extension Data {
    /// The bytes after their size.
    var counted: Data {
        Data([UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]) + self
    }

    /// Returns the number as `count` bytes with leading zeros; nil if it is longer.
    func padded(to count: Int) -> Data? {
        self.count > count ? nil : Data(count: count - self.count) + self
    }
}
