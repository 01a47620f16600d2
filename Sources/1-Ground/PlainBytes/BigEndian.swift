// Integers whose most significant byte comes first, as in every format of this package and in SQLite's files.

extension RangeReplaceableCollection<UInt8> {
    /// Appends the bytes of `integer`.
    @inlinable
    package mutating func append(bigEndian integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }
}

extension FixedWidthInteger {
    /// The bytes of the integer.
    @inlinable
    package var bigEndianBytes: [UInt8] { Swift.withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// The integer with these bytes. Of more bytes than it has, it takes the last.
    @inlinable
    package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension UnsafeRawBufferPointer {
    /// The integer at `offset`, which need not be aligned.
    @inlinable
    package func bigEndian<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int = 0, as type: Integer.Type = Integer.self
    ) -> Integer {
        Integer(bigEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension UnsafeRawPointer {
    /// The integer at `offset`, which need not be aligned.
    @inlinable
    package func bigEndian<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int = 0, as type: Integer.Type = Integer.self
    ) -> Integer {
        Integer(bigEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension UnsafeMutableRawPointer {
    /// Writes the bytes of `integer` at `offset`, which need not be aligned.
    @inlinable
    package func store<Integer: FixedWidthInteger & BitwiseCopyable>(bigEndian integer: Integer, at offset: Int = 0) {
        storeBytes(of: integer.bigEndian, toByteOffset: offset, as: Integer.self)
    }
}
