import FoundationEssentials
import KeychainModel

/// The fields that messages are made of; ``WireReader`` reads the same.
extension WireBuffer {
    func append(_ bool: Bool) { append(UInt8(bool ? 1 : 0)) }

    func append(_ string: String) {
        var string = string
        string.withUTF8 { utf8 in
            append(UInt32(truncatingIfNeeded: utf8.count))
            appendRaw(UnsafeRawBufferPointer(utf8))
        }
    }

    func append(_ data: Data) {
        append(UInt32(truncatingIfNeeded: data.count))
        data.withUnsafeBytes { appendRaw($0) }
    }

    func append(_ secret: SecretBytes) {
        secret.withUnsafeBytes {
            append(UInt32(truncatingIfNeeded: $0.count))
            appendRaw($0)
        }
    }

    func append(_ real: Double) { append(real.bitPattern) }

    func append(_ date: Date) { append(date.timeIntervalSinceReferenceDate) }

    func append(_ uuid: UUID) {
        withUnsafeBytes(of: uuid.uuid) { appendRaw($0) }
    }

    func append<Value>(optional value: Value?, _ write: (Value) -> Void) {
        append(value != nil)
        if let value { write(value) }
    }

    func append<Value>(list values: some Collection<Value>, _ write: (Value) -> Void) {
        append(UInt32(truncatingIfNeeded: values.count))
        for value in values { write(value) }
    }
}
