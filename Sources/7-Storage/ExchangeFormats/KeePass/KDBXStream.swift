import Bytes
import CSodium
import Crypto
import FoundationEssentials

/// The stream ciphers of KeePass's files: Salsa20 and ChaCha20 (RFC 8439), which libsodium computes.
enum KDBXStream {
    /// The cipher of the values that are protected within the XML, by its number in the file.
    enum Inner: UInt32 {
        case salsa20 = 2
        case chaCha20 = 3
    }

    // Before it, libsodium runs code for any processor.
    private static let isReady = sodium_init() >= 0

    /// Encrypts or decrypts with ChaCha20.
    ///
    /// - Parameter nonce: 12 bytes.
    /// - Returns: Nil for keys and nonces of another length.
    static func chaCha20(_ bytes: Data, key: SymmetricKey, nonce: Data) -> Data? {
        guard key.bitCount == 256, nonce.count == 12 else { return nil }
        return key.withUnsafeBytes { apply(bytes, $0, nonce, crypto_stream_chacha20_ietf_xor) }
    }

    /// Encrypts or decrypts all protected values at once: they are one stream, in their order in the document.
    static func inner(_ kind: Inner, _ bytes: Data, key: Data) -> Data? {
        switch kind {
        case .salsa20:
            // KeePass's own constant.
            let nonce = Data([0xE8, 0x30, 0x09, 0x4B, 0x97, 0x20, 0x5D, 0x2A])
            return SHA256.hash(data: key).withUnsafeBytes { apply(bytes, $0, nonce, crypto_stream_salsa20_xor) }
        case .chaCha20:
            return SHA512.hash(data: key).withUnsafeBytes { digest in
                let nonce = Data(digest[32..<44])
                return apply(
                    bytes, UnsafeRawBufferPointer(rebasing: digest[..<32]), nonce, crypto_stream_chacha20_ietf_xor)
            }
        }
    }

    private typealias Cipher =
        (
            UnsafeMutablePointer<UInt8>, UnsafePointer<UInt8>, UInt64, UnsafePointer<UInt8>, UnsafePointer<UInt8>
        ) -> Int32

    private static func apply(
        _ bytes: Data, _ key: UnsafeRawBufferPointer, _ nonce: Data, _ cipher: Cipher
    ) -> Data? {
        guard isReady, !bytes.isEmpty else { return isReady ? Data() : nil }
        var (result, status) = (Data(count: bytes.count), Int32(-1))
        result.withUnsafeMutableBytes { result in
            bytes.withUnsafeBytes { bytes in
                nonce.withUnsafeBytes { nonce in
                    guard let target = result.bindMemory(to: UInt8.self).baseAddress,
                        let source = bytes.bindMemory(to: UInt8.self).baseAddress,
                        let nonce = nonce.bindMemory(to: UInt8.self).baseAddress,
                        let key = key.bindMemory(to: UInt8.self).baseAddress
                    else { return }
                    status = cipher(target, source, UInt64(clamping: bytes.count), nonce, key)
                }
            }
        }
        return status == 0 ? result : nil
    }
}
