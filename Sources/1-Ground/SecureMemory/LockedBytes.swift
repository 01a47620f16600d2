import CSodium

/// Key material in memory that is locked against swapping, left out of core dumps, between guard pages, read-only once
/// it is filled, and wiped at the end of its last reference.
///
/// libsodium's `sodium_malloc` provides the memory. Nothing copies, describes or changes the contents. The bytes are
/// visible only inside ``withUnsafeBytes(_:)``.
package final class LockedBytes: Sendable {
    // Safe to share between threads: the pages are read-only from the return of `init` until `deinit`, when no other
    // reference exists.
    nonisolated(unsafe) private let base: UnsafeMutableRawPointer
    package let count: Int

    /// Allocates `count` zeroed bytes and has `fill` write them.
    ///
    /// - Throws: ``SecureMemoryError`` if the memory is not available, and any error of `fill`.
    package init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        guard sodiumIsReady, count > 0, let base = sodium_malloc(count) else {
            throw SecureMemoryError.unavailable(bytes: count)
        }
        sodium_memzero(base, count)
        do {
            try fill(UnsafeMutableRawBufferPointer(start: base, count: count))
        } catch {
            sodium_free(base)
            throw error
        }
        sodium_mprotect_readonly(base)
        self.base = base
        self.count = count
    }

    /// Copies `bytes`. The caller wipes the original.
    package convenience init(copying bytes: UnsafeRawBufferPointer) throws {
        try self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Copies the bytes of `first`, followed by those of `second`.
    package convenience init(joining first: LockedBytes, _ second: LockedBytes) throws {
        try self.init(count: first.count + second.count) { joined in
            first.withUnsafeBytes { joined.copyMemory(from: $0) }
            second.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: joined[first.count...]).copyMemory(from: $0)
            }
        }
    }

    /// Returns `count` bytes from the operating system's random generator.
    package static func random(count: Int) throws -> LockedBytes {
        try LockedBytes(count: count) { if let base = $0.baseAddress { randombytes_buf(base, $0.count) } }
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Returns whether both hold the same bytes, in time that depends only on the length.
    package func isEqual(to other: LockedBytes) -> Bool {
        count == other.count && sodium_memcmp(base, other.base, count) == 0
    }

    deinit {
        sodium_free(base)
    }
}

/// The reason why key material could not be held in memory.
package enum SecureMemoryError: Error, Equatable {
    /// The system did not provide this many bytes of memory.
    case unavailable(bytes: Int)
}

/// Whether libsodium is initialized. Any thread may call `sodium_init`, and any number of times.
private let sodiumIsReady: Bool = sodium_init() >= 0
