import CLibrary
import Foundation

/// A source of random bytes.
public final class SecRandom: NSObject, Sendable {
    fileprivate static let system = SecRandom()

    private override init() { super.init() }
}

/// A source of random bytes.
public typealias SecRandomRef = SecRandom

/// The system's cryptographically secure source of random bytes.
public let kSecRandomDefault: SecRandomRef? = SecRandom.system

/// Fills memory with random bytes from the kernel.
///
/// - Parameters:
///   - random: The source; every value means the system's.
///   - count: How many bytes.
///   - bytes: Where to; has room for `count` bytes.
/// - Returns: 0, or -1 if the kernel gave none.
public func SecRandomCopyBytes(_ random: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    var filled = 0
    while filled < count {
        // The kernel gives at most 256 bytes at a time (getentropy(3)).
        let chunk = min(count - filled, 256)
        guard getentropy(bytes + filled, chunk) == 0 else { return -1 }
        filled += chunk
    }
    return errSecSuccess
}
