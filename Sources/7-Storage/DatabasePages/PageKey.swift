import Crypto
import FoundationEssentials
import KeychainModel

/// AES-256-GCM under one key, for one thread at a time.
protocol PageKey: AnyObject {
    /// Writes `text` and `extra`, encrypted, and the tag behind `gap` bytes that are left as they are.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes.
    ///   - sealed: Room for `text`, 8 bytes, the gap and 16 bytes.
    func seal(
        _ text: UnsafeRawBufferPointer, extra: UInt64, binding: PageBinding, nonce: UnsafeRawPointer,
        into sealed: UnsafeMutableRawPointer, gap: Int
    ) throws(PageError)

    /// Undoes it; nil if the tag is another. What is in `text` then is of no use to anybody.
    ///
    /// - Parameter text: Room for `count` bytes and 8 more; may be where `sealed` is.
    func open(
        _ sealed: UnsafeRawPointer, binding: PageBinding, nonce: UnsafeRawPointer,
        into text: UnsafeMutableRawPointer, count: Int, gap: Int
    ) -> UInt64?
}

enum PageKeys {
    static let tagSize = 16
    static let extraSize = 8
}

/// By the interface of swift-crypto, where ``PreparedKey`` cannot be. It wants memory of its own for each page.
final class SwiftCryptoPageKey: PageKey {
    private let key: SymmetricKey
    private var text: [UInt8] = []

    init(_ key: SymmetricKey) { self.key = key }

    deinit { wipe() }

    private func wipe() { text.withUnsafeMutableBytes { SecretBytes.wipe($0) } }

    func seal(
        _ text: UnsafeRawBufferPointer, extra: UInt64, binding: PageBinding, nonce: UnsafeRawPointer,
        into sealed: UnsafeMutableRawPointer, gap: Int
    ) throws(PageError) {
        self.text.removeAll(keepingCapacity: true)
        self.text.append(contentsOf: text)
        withUnsafeBytes(of: extra.bigEndian) { self.text.append(contentsOf: $0) }
        defer { wipe() }
        do {
            let nonce = try AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: 12))
            let box = try withUnsafeBytes(of: binding) {
                try AES.GCM.seal(self.text, using: key, nonce: nonce, authenticating: $0)
            }
            let count = box.ciphertext.count
            box.ciphertext.copyBytes(to: UnsafeMutableRawBufferPointer(start: sealed, count: count))
            box.tag.copyBytes(
                to: UnsafeMutableRawBufferPointer(start: sealed + count + gap, count: PageKeys.tagSize))
        } catch {
            throw .memoryUnavailable
        }
    }

    func open(
        _ sealed: UnsafeRawPointer, binding: PageBinding, nonce: UnsafeRawPointer,
        into text: UnsafeMutableRawPointer, count: Int, gap: Int
    ) -> UInt64? {
        let end = count + PageKeys.extraSize
        let ciphertext = UnsafeRawBufferPointer(start: sealed, count: end)
        let tag = UnsafeRawBufferPointer(start: sealed + end + gap, count: PageKeys.tagSize)
        guard let nonce = try? AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: 12)),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag),
            var opened = withUnsafeBytes(of: binding, { try? AES.GCM.open(box, using: key, authenticating: $0) }),
            opened.count == end
        else { return nil }
        return opened.withUnsafeMutableBytes { opened in
            defer { SecretBytes.wipe(opened) }
            if let base = opened.baseAddress { text.copyMemory(from: base, byteCount: count) }
            return UInt64(bigEndian: opened.loadUnaligned(fromByteOffset: count, as: UInt64.self))
        }
    }
}
