import FoundationEssentials
import Frames

/// The fields that only this protocol has; ``WireReader`` reads the same.
extension FrameBuffer {
    package func append(_ data: Data) {
        data.withUnsafeBytes { append(counted: $0) }
    }

    package func append(_ real: Double) { append(real.bitPattern) }

    package func append(_ date: Date) { append(date.timeIntervalSinceReferenceDate) }

    package func append(_ uuid: UUID) {
        withUnsafeBytes(of: uuid.uuid) { appendRaw($0) }
    }
}
