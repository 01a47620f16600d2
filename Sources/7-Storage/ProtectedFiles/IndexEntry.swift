import Crypto
import FoundationEssentials

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

    init(_ box: AES.GCM.SealedBox) {
        var bytes = [UInt8](box.nonce)
        bytes.append(contentsOf: box.tag)
        self.init(bytes, at: 0)
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

    /// Combines the entry with a ciphertext in swift-crypto's form for opening.
    func box(_ ciphertext: some DataProtocol) throws -> AES.GCM.SealedBox {
        try withBytes { nonce, tag in
            Swift.Result {
                try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: Self.nonceSize)),
                    ciphertext: ciphertext,
                    tag: UnsafeRawBufferPointer(start: tag, count: Self.byteCount - Self.nonceSize))
            }
        }.get()
    }

    static func == (one: Self, other: Self) -> Bool { one.nonce == other.nonce && one.tag == other.tag }
}
