import CPageCipher
import Crypto

/// By the BoringSSL in swift-crypto, without memory for a page and in a third of the time.
final class PreparedKey: PageKey {
    private let key: OpaquePointer

    /// Nil where swift-crypto has none, or no memory.
    init?(_ key: SymmetricKey) {
        let made = key.withUnsafeBytes { bytes in
            bytes.count == 32 ? bytes.bindMemory(to: UInt8.self).baseAddress.flatMap { page_key_prepare($0) } : nil
        }
        guard let made else { return nil }
        self.key = made
    }

    deinit { page_key_free(key) }

    func seal(
        _ text: UnsafeRawBufferPointer, extra: UInt64, binding: PageBinding, nonce: UnsafeRawPointer,
        into sealed: UnsafeMutableRawPointer, gap: Int
    ) throws(PageError) {
        let count = text.count + PageKeys.extraSize
        if let base = text.baseAddress { sealed.copyMemory(from: base, byteCount: text.count) }
        sealed.storeBytes(of: extra.bigEndian, toByteOffset: text.count, as: UInt64.self)
        let isSealed = withUnsafePointer(to: binding) {
            page_key_seal(key, sealed, count, nonce, $0, PageBinding.byteCount, sealed + count + gap)
        }
        guard isSealed else { throw .memoryUnavailable }
    }

    func open(
        _ sealed: UnsafeRawPointer, binding: PageBinding, nonce: UnsafeRawPointer,
        into text: UnsafeMutableRawPointer, count: Int, gap: Int
    ) -> UInt64? {
        let end = count + PageKeys.extraSize
        let isOpen = withUnsafePointer(to: binding) {
            page_key_open(key, sealed, end, nonce, $0, PageBinding.byteCount, sealed + end + gap, text)
        }
        return isOpen ? UInt64(bigEndian: text.loadUnaligned(fromByteOffset: count, as: UInt64.self)) : nil
    }
}
