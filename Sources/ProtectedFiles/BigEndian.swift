/// Numbers in the file are big-endian.
extension [UInt8] {
    func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
        withUnsafeBytes { Number(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }

    mutating func store(_ number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
        withUnsafeMutableBytes { $0.storeBytes(of: number.bigEndian, toByteOffset: offset, as: type(of: number)) }
    }

    mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
