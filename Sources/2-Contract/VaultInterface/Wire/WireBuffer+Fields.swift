import FoundationEssentials
import KeychainModel

/// The fields that messages are made of; ``WireReader`` reads the same.
extension WireBuffer {
    package func append(_ bool: Bool) { append(UInt8(bool ? 1 : 0)) }

    package func append(_ string: String) {
        var string = string
        string.withUTF8 { utf8 in
            append(UInt32(truncatingIfNeeded: utf8.count))
            appendRaw(UnsafeRawBufferPointer(utf8))
        }
    }

    package func append(_ data: Data) {
        append(UInt32(truncatingIfNeeded: data.count))
        data.withUnsafeBytes { appendRaw($0) }
    }

    package func append(_ secret: SecretBytes) {
        secret.withUnsafeBytes {
            append(UInt32(truncatingIfNeeded: $0.count))
            appendRaw($0)
        }
    }

    package func append(_ real: Double) { append(real.bitPattern) }

    package func append(_ date: Date) { append(date.timeIntervalSinceReferenceDate) }

    package func append(_ uuid: UUID) {
        withUnsafeBytes(of: uuid.uuid) { appendRaw($0) }
    }

    package func append<Value>(optional value: Value?, _ write: (Value) -> Void) {
        append(value != nil)
        if let value { write(value) }
    }

    package func append<Value>(list values: some Collection<Value>, _ write: (Value) -> Void) {
        append(UInt32(truncatingIfNeeded: values.count))
        for value in values { write(value) }
    }
}
