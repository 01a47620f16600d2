import CLibrary

/// A secret on its way through the program, such as a passcode: in memory that is locked against swapping
/// and left out of core dumps where the system allows it, and wiped when the last reference goes.
///
/// Keys have a stricter home in the engine (`LockedBytes`); this type needs no library, so that modules with
/// Apple's names can hand a passcode on. There is no description of the contents and no way to change them.
package final class SecretBytes: Sendable {
    // Safe to share between threads: the memory is written before `init` returns, only read from then on, and wiped in
    // `deinit`, when nobody else has a reference.
    nonisolated(unsafe) private let base: UnsafeMutableRawPointer
    private let capacity: Int
    package let count: Int

    /// `count` bytes filled by `fill`, which sees zeros.
    ///
    /// - Throws: ``VaultMemoryError`` when there is no memory, or whatever `fill` throws.
    package init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let page = sysconf(Int32(truncatingIfNeeded: _SC_PAGESIZE))
        guard count >= 0, page > 0, count <= Int.max - page else { throw VaultMemoryError() }
        capacity = max(count + page - 1, page) / page * page
        guard
            let base = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            base != MAP_FAILED
        else { throw VaultMemoryError() }
        // Best effort: a limit on locked memory must not keep a person from unlocking.
        mlock(base, capacity)
        madvise(base, capacity, MADV_DONTDUMP)
        do {
            try fill(UnsafeMutableRawBufferPointer(start: base, count: count))
        } catch {
            munmap(base, capacity)
            throw error
        }
        self.base = base
        self.count = count
    }

    /// A copy of `bytes`; the caller wipes the original.
    package convenience init(copying bytes: UnsafeRawBufferPointer) throws {
        try self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// The UTF-8 bytes of `text`, which itself cannot be wiped: for tests and for APIs that take strings.
    package convenience init(_ text: String) throws {
        var bytes = Array(text.utf8)
        defer { bytes.withUnsafeMutableBytes { Self.wipe($0) } }
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    package func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    package var isEmpty: Bool { count == 0 }

    deinit {
        Self.wipe(UnsafeMutableRawBufferPointer(start: base, count: capacity))
        munmap(base, capacity)
    }

    /// Overwrites `bytes` with zeros in a way the compiler may not leave out.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        explicit_bzero(base, bytes.count)
    }
}

extension SecretBytes: Equatable {
    /// Compares in time that depends on the lengths alone.
    package static func == (first: SecretBytes, second: SecretBytes) -> Bool {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in isEqualInConstantTime(first, second) }
        }
    }
}

/// There is no memory for a secret.
package struct VaultMemoryError: Error, Equatable {
    package init() {}
}

extension SecretBytes {
    package func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBytes(body)
    }
}
