import Glibc
import SystemLibraries

/// Random bytes straight from the kernel (getrandom(2)).
///
/// Nothing is kept for later: whatever a process has in memory, a fork of it or a virtual machine that is started twice from one
/// snapshot would use twice, and with a nonce that is used twice AES-GCM loses its key.
package enum KernelRandom {
    private typealias GetRandom = @convention(c) (UnsafeMutableRawPointer?, Int, UInt32) -> Int

    /// Which Swift's module of the C library does not show.
    private static let getRandom: GetRandom? = libraryFunction("getrandom")

    /// - Parameter bytes: At most 256, which come at once.
    package static func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(PageError) {
        guard let getRandom else { throw .randomUnavailable }
        while getRandom(bytes.baseAddress, bytes.count, 0) != bytes.count {
            guard errno == EINTR else { throw .randomUnavailable }
        }
    }
}
