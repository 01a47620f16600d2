import CSodium

/// Key material in memory that is locked against swapping, kept out of core dumps, fenced by guard
/// pages, read-only once filled, and wiped when the last reference goes.
///
/// Backed by libsodium's `sodium_malloc`. There is no copy on write, no description of the contents
/// and no way to change them; the bytes leave only inside ``withUnsafeBytes(_:)``.
package final class LockedBytes: Sendable {
    // Safe to share between threads: the pages behind the pointer are made read-only before `init` returns and
    // stay so until `deinit`, when nobody else has a reference.
    nonisolated(unsafe) private let base: UnsafeMutableRawPointer
    package let count: Int

    /// `count` bytes filled by `fill`, which sees them zeroed.
    ///
    /// - Throws: ``SecureMemoryError`` when the memory cannot be had, or whatever `fill` throws.
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

    /// A copy of `bytes`; the caller wipes the original.
    package convenience init(copying bytes: UnsafeRawBufferPointer) throws {
        try self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// `count` bytes from the operating system's random generator.
    package static func random(count: Int) throws -> LockedBytes {
        try LockedBytes(count: count) { if let base = $0.baseAddress { randombytes_buf(base, $0.count) } }
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Whether both hold the same bytes, in time that depends on the length alone.
    package func isEqual(to other: LockedBytes) -> Bool {
        count == other.count && sodium_memcmp(base, other.base, count) == 0
    }

    deinit {
        sodium_free(base)
    }
}

/// The reason key material could not be held.
package enum SecureMemoryError: Error, Equatable {
    /// The system gave no memory for this many bytes.
    case unavailable(bytes: Int)
}

/// True once libsodium has picked its implementations; `sodium_init` may be called any number of times
/// from any thread.
private let sodiumIsReady: Bool = sodium_init() >= 0
