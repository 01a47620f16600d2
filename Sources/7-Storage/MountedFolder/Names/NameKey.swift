import Crypto
import CryptoExtras
import FoundationEssentials
import Glibc

/// What the names and the links of a view are encrypted under.
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

/// The names of one folder.
///
/// AES-256-GCM-SIV (RFC 8452) with one nonce for all of them: it stays secure then, except that equal names are seen to be
/// equal, which they have to be so that a name can be looked up.
struct NameCipher: Sendable {
    /// Bytes that a name may have: encrypted it has 255, which is what Linux's file systems take.
    static let limit = Base64URL.decodedCount(255) - tagSize
    private static let tagSize = 16
    private static let nonce = [UInt8](repeating: 0, count: 12)

    let key: SymmetricKey

    /// - Throws: `ENAMETOOLONG`.
    func encrypt(_ name: UnsafeRawBufferPointer) throws(Errno) -> EncryptedName {
        guard name.count <= Self.limit else { throw Errno(ENAMETOOLONG) }
        do {
            let nonce = try AES.GCM._SIV.Nonce(data: Self.nonce)
            let box = try AES.GCM._SIV.seal(name.bindMemory(to: UInt8.self), using: key, nonce: nonce)
            return EncryptedName(Base64URL.encode(box.combined.dropFirst(Self.nonce.count)))
        } catch {
            throw Errno(ENOMEM)
        }
    }

    /// The name, or nil for anything that no name of this folder is encrypted as.
    func decrypt(_ name: [UInt8]) -> [UInt8]? {
        guard let sealed = Base64URL.decode(name), sealed.count > Self.tagSize,
            let box = try? AES.GCM._SIV.SealedBox(combined: Self.nonce + sealed),
            let plain = try? AES.GCM._SIV.open(box, using: key)
        else { return nil }
        // None that the kernel would not have asked for.
        guard !plain.contains(0), !plain.contains(UInt8(ascii: "/")), !plain.elementsEqual(".".utf8),
            !plain.elementsEqual("..".utf8)
        else { return nil }
        return [UInt8](plain)
    }
}

/// A name in the folder below. It has letters, digits, `-` and `_` only, and no fewer than 23 of them, so that it is never
/// that of a record.
struct EncryptedName: Sendable {
    /// With the zero byte of C at the end.
    private let bytes: [CChar]

    init(_ bytes: [UInt8]) { self.bytes = bytes.map(CChar.init(bitPattern:)) + [0] }

    var text: String { String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) }

    func withCString<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        bytes.withUnsafeBufferPointer { buffer in
            // Not empty: there is the zero byte.
            guard let base = buffer.baseAddress else { return body("") }
            return body(base)
        }
    }
}

/// Where symbolic links lead. Each is encrypted with a nonce of its own, and does not depend on its folder, so that links can
/// be moved.
struct LinkCipher: Sendable {
    private static let overhead = 12 + 16
    /// Bytes that a target may have: PATH_MAX (linux/limits.h) counts the zero byte.
    static let limit = Base64URL.decodedCount(4095) - overhead

    let key: SymmetricKey

    func encrypt(_ target: UnsafeRawBufferPointer) throws(Errno) -> EncryptedName {
        guard target.count <= Self.limit else { throw Errno(ENAMETOOLONG) }
        do {
            let box = try AES.GCM._SIV.seal(target.bindMemory(to: UInt8.self), using: key)
            return EncryptedName(Base64URL.encode(box.combined))
        } catch {
            throw Errno(ENOMEM)
        }
    }

    /// - Throws: `EIO` for anything that was not made by this view.
    func decrypt(_ text: [UInt8]) throws(Errno) -> [UInt8] {
        guard let sealed = Base64URL.decode(text), let box = try? AES.GCM._SIV.SealedBox(combined: sealed),
            let target = try? AES.GCM._SIV.open(box, using: key), !target.contains(0)
        else { throw Errno(EIO) }
        return [UInt8](target)
    }

    /// Bytes of the target of a link that has `count` below.
    static func targetCount(_ count: Int) -> Int { max(0, Base64URL.decodedCount(count) - overhead) }
}
