import CLibrary

/// A source of random bytes.
public typealias SecRandomRef = OpaquePointer

/// The system's cryptographically secure source of random bytes.
// Safe to share between threads: it stands for the source, and nobody reads what is there.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef = OpaquePointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

/// Fills memory with random bytes from the kernel.
///
/// - Parameters:
///   - rnd: The source; every value means the system's.
///   - count: How many bytes.
///   - bytes: Where to; has room for `count` bytes.
/// - Returns: 0, or -1 if the kernel gave none.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    var filled = 0
    while filled < count {
        // The kernel gives at most 256 bytes at a time (getentropy(3)).
        let chunk = min(count - filled, 256)
        guard getentropy(bytes + filled, chunk) == 0 else { return -1 }
        filled += chunk
    }
    return errSecSuccess
}
