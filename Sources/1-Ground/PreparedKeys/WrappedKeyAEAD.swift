import Bytes
import CAEAD
import Crypto
import FoundationEssentials

/// AES-256-GCM with a key for one message, which another key wraps (RFC 3394).
package enum WrappedKeyAEAD {
    /// Why a message cannot be opened.
    package enum Failure: Error, Equatable {
        /// The wrapped key was wrapped with another key, or was changed.
        case wrongKey
        /// The message, its nonce, its tag or its additional data were changed.
        case wrongTag
    }

    /// The length of a wrapped key of 32 bytes.
    package static let wrappedSize = 40

    /// Encrypts a message with a new key to `sealed`, which has room for as many bytes as `text` has.
    ///
    /// - Parameters:
    ///   - wrapped: Room for the message's key, ``wrappedSize`` bytes.
    ///   - nonce: 12 bytes.
    ///   - binding: The additional data.
    ///   - tag: Room for 16 bytes.
    ///   - preparing: See ``open(_:wrapped:under:nonce:binding:tag:into:preparing:)``.
    /// - Returns: False if there is no memory, or if a size is wrong.
    package static func seal(
        _ text: UnsafeRawBufferPointer, under wrappingKey: SymmetricKey, wrapped: UnsafeMutableRawBufferPointer,
        nonce: UnsafeRawBufferPointer, binding: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer,
        tag: UnsafeMutableRawBufferPointer, preparing: Bool = true
    ) -> Bool {
        let key = SymmetricKey(size: .bits256)
        guard wrapped.count == wrappedSize, nonce.count == 12, tag.count == 16, sealed.count == text.count else {
            return false
        }
        let isSealed = key.withUnsafeBytes { key in
            wrappingKey.withUnsafeBytes { wrapping in
                guard preparing, wrapping.count == 32, let wrappingBase = wrapping.baseAddress,
                    let keyBase = key.baseAddress, let wrappedBase = wrapped.baseAddress,
                    let textBase = text.baseAddress, let nonceBase = nonce.baseAddress,
                    let bindingBase = binding.baseAddress, let base = sealed.baseAddress,
                    let tagBase = tag.baseAddress
                else { return false }
                return aead_seal_wrapped(
                    wrappingBase, keyBase, wrappedBase, textBase, text.count, nonceBase, bindingBase, binding.count,
                    base, tagBase)
            }
        }
        if isSealed { return true }
        guard let made = try? AES.KeyWrap.wrap(key, using: wrappingKey), made.count == wrappedSize,
            let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.seal(text, using: key, nonce: nonce, authenticating: binding)
        else { return false }
        wrapped.copyBytes(from: made)
        sealed.copyBytes(from: box.ciphertext)
        tag.copyBytes(from: box.tag)
        return true
    }

    /// Decrypts a message to `text`, which has room for as many bytes as `sealed` has. After an error, the contents of
    /// `text` must not be used.
    ///
    /// - Parameters:
    ///   - wrapped: The message's key, ``wrappedSize`` bytes.
    ///   - nonce: 12 bytes.
    ///   - binding: The additional data.
    ///   - tag: 16 bytes.
    ///   - preparing: False for swift-crypto's own interface, which otherwise is used where swift-crypto's BoringSSL
    ///     cannot be reached.
    package static func open(
        _ sealed: UnsafeRawBufferPointer, wrapped: UnsafeRawBufferPointer, under wrappingKey: SymmetricKey,
        nonce: UnsafeRawBufferPointer, binding: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer,
        into text: UnsafeMutableRawBufferPointer, preparing: Bool = true
    ) throws(Failure) {
        let result = wrappingKey.withUnsafeBytes { key -> wrapped_result in
            guard preparing, key.count == 32, wrapped.count == wrappedSize, nonce.count == 12, tag.count == 16,
                text.count == sealed.count, let keyBase = key.baseAddress, let wrappedBase = wrapped.baseAddress,
                let nonceBase = nonce.baseAddress, let bindingBase = binding.baseAddress,
                let tagBase = tag.baseAddress, let base = sealed.baseAddress, let textBase = text.baseAddress
            else { return WRAPPED_UNAVAILABLE }
            return aead_open_wrapped(
                keyBase, wrappedBase, base, sealed.count, nonceBase, bindingBase, binding.count, tagBase, textBase)
        }
        switch result {
        case WRAPPED_OPENED: return
        case WRAPPED_WRONG_KEY: throw .wrongKey
        case WRAPPED_WRONG_TAG: throw .wrongTag
        default: break
        }
        guard let key = try? AES.KeyWrap.unwrap(Data(wrapped), using: wrappingKey) else { throw .wrongKey }
        let box = try? AES.GCM.SealedBox(nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed, tag: tag)
        // The only copy of the text, so that it is wiped, and not a further one.
        guard var opened = box.flatMap({ try? AES.GCM.open($0, using: key, authenticating: binding) }),
            opened.count == text.count
        else { throw .wrongTag }
        opened.withUnsafeMutableBytes {
            text.copyMemory(from: UnsafeRawBufferPointer($0))
            SecretBytes.wipe($0)
        }
    }
}
