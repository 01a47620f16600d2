import Bytes

/// A number at a fixed offset.
struct NumberField<Number: FixedWidthInteger & BitwiseCopyable> {
    let offset: Int

    init(at offset: Int) { self.offset = offset }
}

/// Reads and writes big-endian numbers, as the file has them.
extension [UInt8] {
    subscript<Number>(field: NumberField<Number>) -> Number {
        get { number(at: field.offset) }
        set {
            withUnsafeMutableBytes {
                $0.storeBytes(of: newValue.bigEndian, toByteOffset: field.offset, as: Number.self)
            }
        }
    }

    func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Number.Type = Number.self
    ) -> Number {
        withUnsafeBytes { $0.bigEndian(at: offset, as: type) }
    }
}
