import Bytes
import CAEAD
import Crypto
import CryptoExtras
import FoundationEssentials

/// AES-256-CBC without padding and an HMAC over what was encrypted, under two keys, for many messages: with the keys
/// prepared once.
///
/// Where no keys can be prepared, swift-crypto's own interface does the same, and takes memory for each message.
// Safe to share between threads: the C functions only read the prepared keys.
package final class PreparedCBC: @unchecked Sendable {
    package enum Hash: Sendable, Hashable {
        case sha1, sha512

        package var byteCount: Int { self == .sha1 ? 20 : 64 }
    }

    private enum Keys {
        case prepared(OpaquePointer)
        case unprepared(SymmetricKey, SymmetricKey?)
    }

    private let keys: Keys
    /// Nil without a code.
    package let hash: Hash?
    package static let vectorSize = 16

    /// - Parameters:
    ///   - key: For AES, of 32 bytes.
    ///   - code: The hash of the HMAC, and its key of 32 bytes; nil for none.
    ///   - preparing: False for swift-crypto's own interface, which otherwise is used where swift-crypto's BoringSSL
    ///     cannot be reached, or there is no memory.
    package init(_ key: SymmetricKey, code: (hash: Hash, key: SymmetricKey)?, preparing: Bool = true) {
        hash = code?.hash
        let made = key.withUnsafeBytes { bytes -> OpaquePointer? in
            guard preparing, bytes.count == 32, let base = bytes.baseAddress else { return nil }
            guard let code else { return cbc_key_prepare(CBC_WITHOUT_CODE, base, nil) }
            return code.key.withUnsafeBytes { other in
                guard other.count == 32 else { return nil }
                return cbc_key_prepare(code.hash == .sha1 ? CBC_HMAC_SHA1 : CBC_HMAC_SHA512, base, other.baseAddress)
            }
        }
        keys = made.map { Keys.prepared($0) } ?? .unprepared(key, code?.key)
    }

    deinit {
        if case .prepared(let keys) = keys { cbc_key_free(keys) }
    }

    /// Whether the keys are prepared; false where swift-crypto's own interface is used.
    package var isPrepared: Bool {
        if case .prepared = keys { true } else { false }
    }

    /// Encrypts `count` bytes, a multiple of 16. The two buffers may be the same.
    ///
    /// - Parameter vector: 16 random bytes.
    /// - Returns: False if there is no memory.
    package func encrypt(
        _ text: UnsafeRawPointer, count: Int, vector: UnsafeRawPointer, into sealed: UnsafeMutableRawPointer
    ) -> Bool {
        switch keys {
        case .prepared(let keys):
            cbc_encrypt(keys, text, count, vector, sealed)
            return true
        case .unprepared(let key, _):
            return Self.copy(count, to: sealed) {
                try AES._CBC.encrypt(
                    UnsafeRawBufferPointer(start: text, count: count), using: key, iv: Self.vector(vector),
                    noPadding: true)
            }
        }
    }

    /// Decrypts `count` bytes, a multiple of 16. The two buffers may be the same.
    ///
    /// - Returns: False if there is no memory.
    package func decrypt(
        _ sealed: UnsafeRawPointer, count: Int, vector: UnsafeRawPointer, into text: UnsafeMutableRawPointer
    ) -> Bool {
        switch keys {
        case .prepared(let keys):
            cbc_decrypt(keys, sealed, count, vector, text)
            return true
        case .unprepared(let key, _):
            return Self.copy(count, to: text) {
                try AES._CBC.decrypt(
                    UnsafeRawBufferPointer(start: sealed, count: count), using: key, iv: Self.vector(vector),
                    noPadding: true)
            }
        }
    }

    /// Computes the HMAC over `count` bytes and a number.
    ///
    /// - Parameters:
    ///   - number: As it is in memory.
    ///   - code: Room for as many bytes as the hash has.
    /// - Returns: False without a hash, or if there is no memory.
    package func authenticate(
        _ bytes: UnsafeRawPointer, count: Int, number: UInt32, into code: UnsafeMutableRawPointer
    ) -> Bool {
        switch (keys, hash) {
        case (.prepared(let keys), .some):
            return withUnsafeBytes(of: number) { number in
                guard let number = number.baseAddress else { return false }
                return cbc_authenticate(keys, bytes, count, number, code)
            }
        case (.unprepared(_, let key?), .sha1):
            Self.authenticate(Insecure.SHA1.self, key, bytes, count, number, code)
            return true
        case (.unprepared(_, let key?), .sha512):
            Self.authenticate(SHA512.self, key, bytes, count, number, code)
            return true
        default: return false
        }
    }

    // MARK: swift-crypto's own interface

    private static func vector(_ bytes: UnsafeRawPointer) throws -> AES._CBC.IV {
        try AES._CBC.IV(ivBytes: UnsafeRawBufferPointer(start: bytes, count: vectorSize))
    }

    private static func copy(_ count: Int, to target: UnsafeMutableRawPointer, _ make: () throws -> Data) -> Bool {
        guard var made = try? make(), made.count == count else { return false }
        made.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(start: target, count: count).copyMemory(from: UnsafeRawBufferPointer(bytes))
            SecretBytes.wipe(bytes)
        }
        return true
    }

    private static func authenticate<Function: HashFunction>(
        _: Function.Type, _ key: SymmetricKey, _ bytes: UnsafeRawPointer, _ count: Int, _ number: UInt32,
        _ code: UnsafeMutableRawPointer
    ) {
        var made = HMAC<Function>(key: key)
        made.update(data: UnsafeRawBufferPointer(start: bytes, count: count))
        withUnsafeBytes(of: number) { made.update(data: $0) }
        made.finalize().withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: code, count: $0.count).copyMemory(from: $0)
        }
    }
}
