import Crypto
import Foundation

/// The nonce and the tag of a chunk or an index block, which stand in the block above it.
///
/// All zeros: nothing was ever written there, and the data are zeros.
struct IndexEntry: Equatable {
    static let byteCount = 28
    static let hole = IndexEntry(nonce: (0, 0), tag: (0, 0))

    private var nonce: (UInt64, UInt32)
    private var tag: (UInt64, UInt64)

    private init(nonce: (UInt64, UInt32), tag: (UInt64, UInt64)) {
        (self.nonce, self.tag) = (nonce, tag)
    }

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

    func storeNonce(in bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeBytes(of: nonce.0, toByteOffset: offset, as: UInt64.self)
        bytes.storeBytes(of: nonce.1, toByteOffset: offset + 8, as: UInt32.self)
    }

    func storeTag(in bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeBytes(of: tag.0, toByteOffset: offset, as: UInt64.self)
        bytes.storeBytes(of: tag.1, toByteOffset: offset + 8, as: UInt64.self)
    }

    func store(in bytes: inout [UInt8], at offset: Int) {
        bytes.withUnsafeMutableBytes {
            storeNonce(in: $0, at: offset)
            storeTag(in: $0, at: offset + 12)
        }
    }

    static func == (one: Self, other: Self) -> Bool { one.nonce == other.nonce && one.tag == other.tag }
}
