import Frames

extension FrameBuffer {
    /// Appends a whole frame with the body that `body` appends.
    package func appendFrame(_ kind: HelperFrameKind, _ body: () -> Void = {}) {
        let start = count
        append(UInt32(0))
        append(kind.rawValue)
        body()
        overwrite(UInt32(truncatingIfNeeded: count - start - 4), at: start)
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
