import Bytes
import CLibrary
import Crypto
import CryptoExtras
import FoundationEssentials

/// The key that encrypts the names and links of a view.
struct NameKey: Sendable {
    static let byteCount = 32

    private let key: SymmetricKey
    let links: LinkCipher

    init(_ bytes: UnsafeRawBufferPointer) {
        key = SymmetricKey(data: bytes)
        links = LinkCipher(key: Self.derive(key, Data(), "links"))
    }

    /// - Parameter identifier: The 16 bytes of the folder's record.
    func names(inFolder identifier: Data) -> NameCipher {
        NameCipher(key: Self.derive(key, identifier, "names"))
    }

    private static func derive(_ key: SymmetricKey, _ salt: Data, _ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: salt, info: Data("swift-keychain/v1/mount/\(purpose)".utf8),
            outputByteCount: 32)
    }
}

/// The cipher for the names of one folder.
///
/// Uses AES-256-GCM-SIV (RFC 8452) with one nonce for all names. This is secure, except that equal names have equal
/// ciphertexts. They must, so that a name can be looked up.
struct NameCipher: Sendable {
    /// The longest name in bytes. Its ciphertext has 255 bytes, the limit of Linux's file systems.
    static let limit = UnpaddedBase64.decodedCount(255) - tagSize
    private static let tagSize = 16
    private static let nonce = [UInt8](repeating: 0, count: 12)

    let key: SymmetricKey

    /// - Throws: `ENAMETOOLONG`.
    func encrypt(_ name: UnsafeRawBufferPointer) throws(Errno) -> EncryptedName {
        guard name.count <= Self.limit else { throw Errno(ENAMETOOLONG) }
        do {
            let nonce = try AES.GCM._SIV.Nonce(data: Self.nonce)
            let box = try AES.GCM._SIV.seal(name.bindMemory(to: UInt8.self), using: key, nonce: nonce)
            return EncryptedName(UnpaddedBase64.url.encode(box.combined.dropFirst(Self.nonce.count)))
        } catch {
            throw Errno(ENOMEM)
        }
    }

    /// Decrypts a name; nil if it is not an encrypted name of this folder.
    func decrypt(_ name: [UInt8]) -> [UInt8]? {
        guard let sealed = UnpaddedBase64.url.decode(name), sealed.count > Self.tagSize,
            let box = try? AES.GCM._SIV.SealedBox(combined: Self.nonce + sealed),
            let plain = try? AES.GCM._SIV.open(box, using: key)
        else { return nil }
        // Refuses names that the kernel cannot have asked for.
        guard !plain.contains(0), !plain.contains(UInt8(ascii: "/")), !plain.elementsEqual(".".utf8),
            !plain.elementsEqual("..".utf8)
        else { return nil }
        return [UInt8](plain)
    }
}

/// A name in the folder below the view. It consists of at least 23 letters, digits, `-` and `_`, so that it is never
/// the name of a record.
struct EncryptedName: Sendable {
    /// With C's zero byte at the end.
    private let bytes: [CChar]

    init(_ bytes: [UInt8]) { self.bytes = bytes.map(CChar.init(bitPattern:)) + [0] }

    var text: String { String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) }

    func withCString<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        bytes.withUnsafeBufferPointer { buffer in
            // Not empty, because of the zero byte.
            guard let base = buffer.baseAddress else { return body("") }
            return body(base)
        }
    }
}

/// The cipher for the targets of symbolic links. Each has its own nonce and does not depend on its folder, so that
/// links can be moved.
struct LinkCipher: Sendable {
    private static let overhead = 12 + 16
    /// The longest target in bytes: PATH_MAX (linux/limits.h) includes the zero byte.
    static let limit = UnpaddedBase64.decodedCount(4095) - overhead

    let key: SymmetricKey

    func encrypt(_ target: UnsafeRawBufferPointer) throws(Errno) -> EncryptedName {
        guard target.count <= Self.limit else { throw Errno(ENAMETOOLONG) }
        do {
            let box = try AES.GCM._SIV.seal(target.bindMemory(to: UInt8.self), using: key)
            return EncryptedName(UnpaddedBase64.url.encode(box.combined))
        } catch {
            throw Errno(ENOMEM)
        }
    }

    /// - Throws: `EIO` if this view did not make the text.
    func decrypt(_ text: [UInt8]) throws(Errno) -> [UInt8] {
        guard let sealed = UnpaddedBase64.url.decode(text), let box = try? AES.GCM._SIV.SealedBox(combined: sealed),
            let target = try? AES.GCM._SIV.open(box, using: key), !target.contains(0)
        else { throw Errno(EIO) }
        return [UInt8](target)
    }

    /// Returns the length in bytes of a link's target, from the `count` bytes of the encrypted one.
    static func targetCount(_ count: Int) -> Int { max(0, UnpaddedBase64.decodedCount(count) - overhead) }
}
