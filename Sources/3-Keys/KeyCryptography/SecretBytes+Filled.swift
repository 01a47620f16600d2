import Bytes
import FoundationEssentials

extension SecretBytes {
    /// Returns `count` zeroed bytes that `fill` then writes.
    static func filled(
        count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(KeyError) -> Void
    ) throws(KeyError) -> SecretBytes {
        do {
            return try SecretBytes(count: count, fill: fill)
        } catch let error as KeyError {
            throw error
        } catch {
            throw .memoryUnavailable
        }
    }

    static func copy(of bytes: UnsafeRawBufferPointer) throws(KeyError) -> SecretBytes {
        try filled(count: bytes.count) { (copy) throws(KeyError) in copy.copyMemory(from: bytes) }
    }

    /// A copy as `Data` that is wiped when it is freed, for interfaces that take `Data`.
    var data: Data {
        .wipedWhenFreed(withUnsafeBytes { Data($0) })
    }
}
