import CAEAD
import Crypto

/// An authenticated cipher under one key, for many messages: without memory for any, and with the key prepared once.
///
/// Where it cannot be made, swift-crypto's own interface does the same.
// Safe to share between threads: BoringSSL lets any number of them use a key, which is not written to once it is made.
package final class PreparedAEAD: @unchecked Sendable {
    package enum Algorithm {
        case aesGCM
        case chaChaPoly
    }

    private let key: OpaquePointer

    /// Nil where swift-crypto's BoringSSL is not to be reached, or there is no memory.
    ///
    /// - Parameter key: Of 32 bytes.
    package init?(_ algorithm: Algorithm, _ key: SymmetricKey) {
        let made = key.withUnsafeBytes { bytes -> OpaquePointer? in
            guard bytes.count == 32, let base = bytes.baseAddress else { return nil }
            return aead_key_prepare(algorithm == .aesGCM ? AEAD_AES_256_GCM : AEAD_CHACHA20_POLY1305, base)
        }
        guard let made else { return nil }
        self.key = made
    }

    deinit { aead_key_free(key) }

    /// Encrypts `count` bytes. The two buffers may be the same.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes. No other message under this key may use them.
    ///   - binding: The additional data.
    ///   - tag: Room for 16 bytes.
    package func seal(
        _ text: UnsafeRawPointer, count: Int, nonce: UnsafeRawPointer, binding: UnsafeRawPointer, bindingCount: Int,
        into sealed: UnsafeMutableRawPointer, tag: UnsafeMutableRawPointer
    ) -> Bool {
        aead_seal(key, text, count, nonce, binding, bindingCount, sealed, tag)
    }

    /// Decrypts `count` bytes. The two buffers may be the same.
    ///
    /// - Returns: False if the tag does not match. The contents of `text` must not be used then.
    package func open(
        _ sealed: UnsafeRawPointer, count: Int, nonce: UnsafeRawPointer, binding: UnsafeRawPointer, bindingCount: Int,
        tag: UnsafeRawPointer, into text: UnsafeMutableRawPointer
    ) -> Bool {
        aead_open(key, sealed, count, nonce, binding, bindingCount, tag, text)
    }
}
