import CSodium
import FoundationEssentials

/// Overwrites `bytes` with zeros. The compiler cannot remove this write.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    sodium_memzero(base, bytes.count)
}

extension Data {
    /// Overwrites the contents with zeros. Has an effect only if this value is the sole owner of its storage.
    package mutating func wipe() {
        withUnsafeMutableBytes { SecureMemory.wipe($0) }
    }
}

extension Array where Element == UInt8 {
    /// Overwrites the contents with zeros. Has an effect only if this value is the sole owner of its storage.
    package mutating func wipe() {
        withUnsafeMutableBytes { SecureMemory.wipe($0) }
    }
}
