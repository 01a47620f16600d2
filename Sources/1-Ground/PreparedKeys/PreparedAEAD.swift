import Bytes
import CAEAD
import Crypto
import FoundationEssentials

/// An authenticated cipher under one key, for many messages: without memory for any, and with the key prepared once.
///
/// Where no key can be prepared, swift-crypto's own interface does the same, and takes memory for each message.
// Safe to share between threads: BoringSSL lets any number of them use a key, which is not written to once it is made.
package final class PreparedAEAD: @unchecked Sendable {
    package enum Algorithm: Sendable {
        case aesGCM
        case chaChaPoly
    }

    private enum Key {
        case prepared(OpaquePointer)
        /// In memory that belongs to the object, which wipes it.
        case placed(OpaquePointer, AnyObject)
        case unprepared(SymmetricKey, Algorithm)
    }

    private let key: Key
    private static let nonceSize = 12
    private static let tagSize = 16

    /// - Parameters:
    ///   - key: Of 32 bytes.
    ///   - preparing: False for swift-crypto's own interface, which otherwise is used where swift-crypto's BoringSSL
    ///     cannot be reached, or there is no memory.
    package init(_ algorithm: Algorithm, _ key: SymmetricKey, preparing: Bool = true) {
        let made = key.withUnsafeBytes { bytes -> OpaquePointer? in
            guard preparing, bytes.count == 32, let base = bytes.baseAddress else { return nil }
            return aead_key_prepare(algorithm == .aesGCM ? AEAD_AES_256_GCM : AEAD_CHACHA20_POLY1305, base)
        }
        self.key = made.map { Key.prepared($0) } ?? .unprepared(key, algorithm)
    }

    /// A key in memory that the caller chooses.
    ///
    /// - Parameters:
    ///   - key: Of 32 bytes.
    ///   - makeRoom: Lends ``room`` bytes, aligned to 16, to its argument, and returns what keeps them, and wipes them
    ///     with its last reference. They do not change afterwards.
    package init<Keeper: AnyObject>(
        _ algorithm: Algorithm, _ key: SymmetricKey,
        in makeRoom: ((UnsafeMutableRawBufferPointer) -> Void) throws -> Keeper
    ) rethrows {
        var made: OpaquePointer?
        let keeper = try makeRoom { room in
            made = key.withUnsafeBytes { bytes -> OpaquePointer? in
                guard bytes.count == 32, let base = bytes.baseAddress, room.count >= Self.room,
                    let place = room.baseAddress
                else { return nil }
                return aead_key_place(algorithm == .aesGCM ? AEAD_AES_256_GCM : AEAD_CHACHA20_POLY1305, base, place)
            }
        }
        self.key = made.map { Key.placed($0, keeper) } ?? .unprepared(key, algorithm)
    }

    /// Whether swift-crypto's BoringSSL can be reached; else swift-crypto's own interface is used everywhere.
    package static let isAvailable = PreparedAEAD(.aesGCM, SymmetricKey(size: .bits256)).isPrepared

    /// How many bytes a prepared key takes.
    package static let room = Int(AEAD_KEY_ROOM)

    deinit {
        if case .prepared(let key) = key { aead_key_free(key) }
    }

    /// Whether the key is prepared; false where swift-crypto's own interface is used.
    package var isPrepared: Bool {
        if case .unprepared = key { false } else { true }
    }

    /// Encrypts `count` bytes. The two buffers may be the same.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes. No other message under this key may use them.
    ///   - binding: The additional data.
    ///   - tag: Room for 16 bytes.
    /// - Returns: False if there is no memory.
    package func seal(
        _ text: UnsafeRawPointer, count: Int, nonce: UnsafeRawPointer, binding: UnsafeRawPointer, bindingCount: Int,
        into sealed: UnsafeMutableRawPointer, tag: UnsafeMutableRawPointer
    ) -> Bool {
        switch key {
        case .prepared(let key), .placed(let key, _):
            aead_seal(key, text, count, nonce, binding, bindingCount, sealed, tag)
        case .unprepared(let key, let algorithm):
            Self.seal(
                UnsafeRawBufferPointer(start: text, count: count), algorithm, key,
                nonce: UnsafeRawBufferPointer(start: nonce, count: Self.nonceSize),
                binding: UnsafeRawBufferPointer(start: binding, count: bindingCount),
                into: UnsafeMutableRawBufferPointer(start: sealed, count: count),
                tag: UnsafeMutableRawBufferPointer(start: tag, count: Self.tagSize))
        }
    }

    /// Decrypts `count` bytes. The two buffers may be the same.
    ///
    /// - Returns: False if the tag does not match. The contents of `text` must not be used then.
    package func open(
        _ sealed: UnsafeRawPointer, count: Int, nonce: UnsafeRawPointer, binding: UnsafeRawPointer, bindingCount: Int,
        tag: UnsafeRawPointer, into text: UnsafeMutableRawPointer
    ) -> Bool {
        switch key {
        case .prepared(let key), .placed(let key, _):
            aead_open(key, sealed, count, nonce, binding, bindingCount, tag, text)
        case .unprepared(let key, let algorithm):
            Self.open(
                UnsafeRawBufferPointer(start: sealed, count: count), algorithm, key,
                nonce: UnsafeRawBufferPointer(start: nonce, count: Self.nonceSize),
                binding: UnsafeRawBufferPointer(start: binding, count: bindingCount),
                tag: UnsafeRawBufferPointer(start: tag, count: Self.tagSize),
                into: UnsafeMutableRawBufferPointer(start: text, count: count))
        }
    }

    // MARK: swift-crypto's own interface

    private static func seal(
        _ text: UnsafeRawBufferPointer, _ algorithm: Algorithm, _ key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        binding: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer,
        tag: UnsafeMutableRawBufferPointer
    ) -> Bool {
        do {
            switch algorithm {
            case .aesGCM:
                let box = try AES.GCM.seal(
                    text, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: binding)
                box.ciphertext.copyBytes(to: sealed)
                box.tag.copyBytes(to: tag)
            case .chaChaPoly:
                let box = try ChaChaPoly.seal(
                    text, using: key, nonce: ChaChaPoly.Nonce(data: nonce), authenticating: binding)
                box.ciphertext.copyBytes(to: sealed)
                box.tag.copyBytes(to: tag)
            }
            return true
        } catch {
            // The text may be in the same memory.
            SecretBytes.wipe(sealed)
            return false
        }
    }

    private static func open(
        _ sealed: UnsafeRawBufferPointer, _ algorithm: Algorithm, _ key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        binding: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let opened =
            switch algorithm {
            case .aesGCM:
                try? AES.GCM.open(
                    AES.GCM.SealedBox(nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed, tag: tag), using: key,
                    authenticating: binding)
            case .chaChaPoly:
                try? ChaChaPoly.open(
                    ChaChaPoly.SealedBox(nonce: ChaChaPoly.Nonce(data: nonce), ciphertext: sealed, tag: tag),
                    using: key, authenticating: binding)
            }
        guard var opened, opened.count == text.count else { return false }
        opened.withUnsafeMutableBytes {
            text.copyMemory(from: UnsafeRawBufferPointer($0))
            SecretBytes.wipe($0)
        }
        return true
    }
}
