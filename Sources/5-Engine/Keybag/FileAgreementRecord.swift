import Bytes
import Crypto
import FoundationEssentials

/// The stored public key for files that a locked machine may create. It is authenticated with a key that is available
/// while everything else is locked.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKFILEAG"
///          8      2  format version, 1
///         10     16  identifier of the keybag
///         26     32  X25519 public key
///         58     32  HMAC-SHA256 over all before
package struct FileAgreementRecord {
    package let keybag: UUID
    package let publicKey: Data

    package init(keybag: UUID, publicKey: Data) {
        self.keybag = keybag
        self.publicKey = publicKey
    }

    /// - Parameter alwaysKey: The class key of the 'always' class.
    package func encoded(under alwaysKey: SymmetricKey) -> Data {
        var encoded = Data(Self.magic + [0, 1])
        withUnsafeBytes(of: keybag.uuid) { encoded.append(contentsOf: $0) }
        encoded += publicKey
        let code = HMAC<SHA256>.authenticationCode(for: encoded, using: Self.authenticationKey(from: alwaysKey))
        return encoded + Data(code)
    }

    /// - Throws: ``KeybagError/authenticationFailed`` if the record was changed or belongs to another keybag.
    package init(decoding encoded: Data, of keybag: UUID, under alwaysKey: SymmetricKey) throws(KeybagError) {
        let bytes = [UInt8](encoded)
        guard bytes.count == Self.size, bytes.starts(with: Self.magic) else {
            throw .malformed(reason: "not a public key for files")
        }
        let version = UInt16(bigEndianBytes: bytes[8..<10])
        guard version == 1 else { throw .unknownVersion(version) }
        guard
            HMAC<SHA256>.isValidAuthenticationCode(
                bytes[58...], authenticating: bytes[..<58], using: Self.authenticationKey(from: alwaysKey)),
            bytes[10..<26].withUnsafeBytes({ UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }) == keybag
        else { throw .authenticationFailed }
        self.keybag = keybag
        publicKey = Data(bytes[26..<58])
    }

    private static func authenticationKey(from alwaysKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: alwaysKey, info: Data("swift-keychain/v1/file-agreement-key".utf8),
            outputByteCount: 32)
    }

    private static let magic = [UInt8]("SKFILEAG".utf8)
    package static let size = 90
}
