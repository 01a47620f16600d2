import CLibrary
import SystemLibraries

/// Random bytes directly from the kernel (getrandom(2)).
///
/// Keeps no bytes for later: a fork of the process, or a virtual machine that is started twice from one snapshot, would
/// use them twice. A nonce that is used twice breaks AES-GCM.
package enum KernelRandom {
    private typealias GetRandom = @convention(c) (UnsafeMutableRawPointer?, Int, UInt32) -> Int

    /// Looked up, because Swift's module of the C library does not declare it.
    private static let getRandom: GetRandom? = libraryFunction("getrandom")

    /// - Parameter bytes: At most 256, which the kernel fills in one call.
    package static func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(PageError) {
        guard let getRandom else { throw .randomUnavailable }
        let count = SystemCall.retryOnInterrupt { getRandom(bytes.baseAddress, bytes.count, 0) }
        guard count == bytes.count else { throw .randomUnavailable }
    }
}
