import Bytes
import Crypto
import PreparedKeys

/// AES-256-GCM under one key, in the form of sealed pages.
final class PageKey {
    static let tagSize = 16
    static let extraSize = 8

    private let key: PreparedAEAD

    /// - Parameter preparing: False for swift-crypto's own interface, which wants memory of its own for each page.
    init(_ key: SymmetricKey, preparing: Bool = true) {
        self.key = PreparedAEAD(.aesGCM, key, preparing: preparing)
    }

    /// False where swift-crypto's own interface is used.
    var isPrepared: Bool { key.isPrepared }

    /// Writes `text` and `extra`, encrypted, and the tag behind `gap` bytes that are left as they are.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes.
    ///   - sealed: Room for `text`, 8 bytes, the gap and 16 bytes.
    func seal(
        _ text: UnsafeRawBufferPointer, extra: UInt64, binding: PageBinding, nonce: UnsafeRawPointer,
        into sealed: UnsafeMutableRawPointer, gap: Int
    ) throws(PageError) {
        let count = text.count + Self.extraSize
        if let base = text.baseAddress { sealed.copyMemory(from: base, byteCount: text.count) }
        sealed.store(bigEndian: extra, at: text.count)
        let isSealed = withUnsafePointer(to: binding) {
            key.seal(
                sealed, count: count, nonce: nonce, binding: $0, bindingCount: PageBinding.byteCount,
                into: sealed, tag: sealed + count + gap)
        }
        guard isSealed else { throw .memoryUnavailable }
    }

    /// Undoes it; nil if the tag is another. What is in `text` then is of no use to anybody.
    ///
    /// - Parameter text: Room for `count` bytes and 8 more; may be where `sealed` is.
    func open(
        _ sealed: UnsafeRawPointer, binding: PageBinding, nonce: UnsafeRawPointer,
        into text: UnsafeMutableRawPointer, count: Int, gap: Int
    ) -> UInt64? {
        let end = count + Self.extraSize
        let isOpen = withUnsafePointer(to: binding) {
            key.open(
                sealed, count: end, nonce: nonce, binding: $0, bindingCount: PageBinding.byteCount,
                tag: sealed + end + gap, into: text)
        }
        return isOpen ? UnsafeRawPointer(text).bigEndian(at: count) : nil
    }
}
