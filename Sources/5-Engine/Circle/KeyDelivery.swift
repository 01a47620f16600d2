import Bytes
import Crypto
import FoundationEssentials
import Frames
import SecureMemory

/// A key of a view, or the circle's, for one member.
///
///     offset  bytes  field
///          0      8  "SKDELIVR"
///          8      1  format, 1
///          9     16  circle
///         25      4  member
///         29      1  class: 1 while unlocked, 2 after the first unlocking
///         30  1,269  view (16), generation (4) and key (32), sealed
///
/// It is sealed twice (HPKE in base mode, RFC 9180): for the agreement key in the member's enclave, and that for its
/// hybrid key. Both have to be broken to open it. The `info` of both is "swift-keychain/circle/v1/view-key" ‖ circle ‖
/// member ‖ class. The suites are DHKEM(P-256, HKDF-SHA256) and X-Wing, with HKDF-SHA256 and AES-256-GCM. Each
/// encapsulated key stands before what is sealed.
///
/// Anybody can seal for a member. A key counts if the view's chain names its commitment; see ``ViewEntry``.
package struct KeyDelivery: Sendable, Hashable {
    package static let size = 30 + wrapSize
    private static let magic = "SKDELIVR"
    private static let what = "key for a member"
    private static let textSize = 52
    private static let wrapSize = 1_120 + 16 + 65 + 16 + textSize
    private static let inner = HPKE.Ciphersuite.P256_SHA256_AES_GCM_256
    private static let outer = HPKE.Ciphersuite.XWingMLKEM768X25519_SHA256_AES_GCM_256

    package let circle: Identifier16
    package let member: UInt32
    package let keyClass: KeyClass
    private let wrapped: Data

    /// What a member learns.
    package struct Contents: Sendable {
        /// ``Identifier16/zero`` for the circle's key.
        package let view: Identifier16
        package let generation: UInt32
        package let key: SymmetricKey
    }

    /// - Parameter view: ``Identifier16/zero`` for the circle's key.
    package init(
        _ key: SymmetricKey, of view: Identifier16, generation: UInt32, in circle: Identifier16, to member: UInt32,
        _ keyClass: KeyClass, _ keys: MemberKeys
    ) throws(CircleError) {
        (self.circle, self.member, self.keyClass) = (circle, member, keyClass)
        let info = Self.info(circle, member, keyClass)
        var text = view.bytes
        text.append(bigEndian: generation)
        key.withUnsafeBytes { text.append(contentsOf: $0) }
        defer { text.wipe() }
        do {
            let pair = keys[keyClass]
            var toEnclave = try HPKE.Sender(
                recipientKey: P256.KeyAgreement.PublicKey(compressedRepresentation: pair.agreement),
                ciphersuite: Self.inner, info: info)
            let sealed = toEnclave.encapsulatedKey + (try toEnclave.seal(text))
            var toHybrid = try HPKE.Sender(
                recipientKey: XWingMLKEM768X25519.PublicKey(rawRepresentation: pair.hybrid), ciphersuite: Self.outer,
                info: info)
            wrapped = toHybrid.encapsulatedKey + (try toHybrid.seal(sealed))
        } catch {
            throw .malformed("key of a member")
        }
    }

    package init(decoding encoded: Data) throws(CircleError) {
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            try CircleForm.readHead(Self.magic, from: &reader, of: Self.what)
            let circle = try Identifier16(from: &reader)
            let member: UInt32 = try reader.integer()
            guard let keyClass = KeyClass(rawValue: try reader.integer()) else {
                throw CircleError.malformed(Self.what)
            }
            return KeyDelivery(circle, member, keyClass, wrapped: Data(try reader.take(Self.wrapSize)))
        }
    }

    private init(_ circle: Identifier16, _ member: UInt32, _ keyClass: KeyClass, wrapped: Data) {
        (self.circle, self.member, self.keyClass, self.wrapped) = (circle, member, keyClass, wrapped)
    }

    package var encoded: Data {
        let buffer = FrameBuffer()
        CircleForm.appendHead(Self.magic, to: buffer)
        buffer.appendRaw(circle.bytes)
        buffer.append(member)
        buffer.append(keyClass.rawValue)
        buffer.appendRaw(wrapped)
        return buffer.data
    }

    private static func info(_ circle: Identifier16, _ member: UInt32, _ keyClass: KeyClass) -> Data {
        var info = CircleForm.label("view-key") + circle.bytes
        info.append(bigEndian: member)
        info.append(keyClass.rawValue)
        return info
    }

    /// Opens it with the member's private keys.
    ///
    /// - Throws: ``CircleError/forged(_:)`` if it was sealed for other keys, and what the enclave throws.
    package func open<Agreement>(with secrets: MemberSecrets<Agreement>) throws -> Contents {
        let info = Self.info(circle, member, keyClass)
        let sealed: Data
        do {
            var recipient = try HPKE.Recipient(
                privateKey: secrets.hybrid, ciphersuite: Self.outer, info: info, encapsulatedKey: wrapped.prefix(1_120))
            sealed = try recipient.open(wrapped.dropFirst(1_120))
        } catch {
            throw CircleError.forged(Self.what)
        }
        // The enclave may fail, which is no fault of the delivery.
        var recipient = try HPKE.Recipient(
            privateKey: secrets.agreement, ciphersuite: Self.inner, info: info, encapsulatedKey: sealed.prefix(65))
        guard var text = try? recipient.open(sealed.dropFirst(65)) else { throw CircleError.forged(Self.what) }
        defer { text.wipe() }
        guard text.count == Self.textSize, let view = Identifier16(text.prefix(16)) else {
            throw CircleError.malformed(Self.what)
        }
        return Contents(
            view: view, generation: UInt32(bigEndianBytes: text.dropFirst(16).prefix(4)),
            key: SymmetricKey(data: text.suffix(ViewKey.size)))
    }
}
