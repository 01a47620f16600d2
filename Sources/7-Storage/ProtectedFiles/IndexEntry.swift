import CLibrary
import Crypto
import SystemLibraries

/// The nonce and tag of a chunk or index block, which the block above it holds.
///
/// All zeros for a hole, which was never written and reads as zeros.
struct IndexEntry: Equatable {
    static let byteCount = 28
    static let nonceSize = 12
    static let hole = IndexEntry(nonce: (0, 0), tag: (0, 0))

    private var nonce: (UInt64, UInt32)
    private var tag: (UInt64, UInt64)

    private init(nonce: (UInt64, UInt32), tag: (UInt64, UInt64)) { (self.nonce, self.tag) = (nonce, tag) }

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        nonce.0 = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        nonce.1 = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)
        tag.0 = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt64.self)
        tag.1 = bytes.loadUnaligned(fromByteOffset: offset + 20, as: UInt64.self)
    }

    init(_ bytes: [UInt8], at offset: Int) {
        self = bytes.withUnsafeBytes { IndexEntry($0, at: offset) }
    }

    /// Makes an entry with a fresh nonce.
    ///
    /// - Parameter body: Gets the nonce, and room for the tag. Returns whether it made the tag.
    /// - Returns: Nil if it did not.
    static func make(
        _ body: (_ nonce: UnsafeRawPointer, _ tag: UnsafeMutableRawPointer) -> Bool
    ) -> IndexEntry? {
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes in
            // Memory of 28 bytes always has an address.
            let base = bytes.baseAddress!
            fillNonce(UnsafeMutableRawBufferPointer(start: base, count: nonceSize))
            guard body(base, base + nonceSize) else { return nil }
            return IndexEntry(UnsafeRawBufferPointer(bytes), at: 0)
        }
    }

    private typealias GetRandom = @convention(c) (UnsafeMutableRawPointer?, Int, UInt32) -> Int
    private static let getRandom: GetRandom? = libraryFunction("getrandom")

    /// With one call of the kernel, where swift-crypto makes two. No random bytes are kept for later: a fork of the
    /// process would use them twice.
    private static func fillNonce(_ bytes: UnsafeMutableRawBufferPointer) {
        if let getRandom,
            SystemCall.retryOnInterrupt({ getRandom(bytes.baseAddress, bytes.count, 0) }) == bytes.count
        {
            return
        }
        AES.GCM.Nonce().withUnsafeBytes { bytes.copyMemory(from: $0) }
    }

    var isHole: Bool { self == .hole }

    func store(in bytes: inout [UInt8], at offset: Int) {
        bytes.withUnsafeMutableBytes { store(in: $0, at: offset) }
    }

    private func store(in bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeBytes(of: nonce.0, toByteOffset: offset, as: UInt64.self)
        bytes.storeBytes(of: nonce.1, toByteOffset: offset + 8, as: UInt32.self)
        bytes.storeBytes(of: tag.0, toByteOffset: offset + Self.nonceSize, as: UInt64.self)
        bytes.storeBytes(of: tag.1, toByteOffset: offset + Self.nonceSize + 8, as: UInt64.self)
    }

    /// Runs `body` with the nonce of 12 bytes and the tag of 16 bytes.
    func withBytes<Result>(_ body: (_ nonce: UnsafeRawPointer, _ tag: UnsafeRawPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 1) { bytes in
            store(in: bytes, at: 0)
            // Memory of 28 bytes always has an address.
            let base = UnsafeRawPointer(bytes.baseAddress!)
            return body(base, base + Self.nonceSize)
        }
    }

    static func == (one: Self, other: Self) -> Bool { one.nonce == other.nonce && one.tag == other.tag }
}
