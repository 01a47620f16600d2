import Frames
import PlainBytes

/// A key, a certificate or a password of the keychain, without secret bytes. The daemon's `KeyObject` is its source.
package struct ClientKeyObject: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        case publicKey = 1
        case privateKey = 2
        case certificate = 3
        case secretKey = 4
        case password = 5
    }

    package var kind: Kind
    package var isInEnclave: Bool
    package var needsPerson: Bool
    /// The lock hides the private half, and ``identifier`` is that of the public one.
    package var isHidden: Bool
    /// The identifier of the item, 16 bytes.
    package var identifier: [UInt8]
    package var accessGroup: String
    package var label: String
    /// SHA-1 of the public key, or the vault's name of a secret key.
    package var hash: [UInt8]
    /// What the program that made the key calls it; empty if it made no choice.
    package var name: [UInt8]
    /// Apple's number of the key's type (`kSecAttrKeyType`).
    package var keyType: Int64
    package var sizeInBits: Int
    /// `04 ‖ X ‖ Y` on a curve of SEC 2, PKCS #1 for RSA, 32 bytes for Ed25519, as FIPS 203 and 204 have it
    /// for ML-KEM and ML-DSA; empty if it is not known.
    package var publicKey: [UInt8]
    /// In DER; empty for keys.
    package var certificate: [UInt8]
    /// The public key in DER, as certificates have it.
    package var keyInfo: [UInt8]
    /// Of an RSA key, its modulus and its exponent; of a certificate, its subject, issuer and serial number in DER; of
    /// a password, its service and account.
    package var parts: [[UInt8]]

    /// A key that is in no vault.
    package init(
        kind: Kind, keyType: Int64, sizeInBits: Int, publicKey: [UInt8] = [], keyInfo: [UInt8] = [],
        parts: [[UInt8]] = []
    ) {
        (self.kind, self.keyType, self.sizeInBits) = (kind, keyType, sizeInBits)
        (self.publicKey, self.keyInfo, self.parts) = (publicKey, keyInfo, parts)
        (isInEnclave, needsPerson, isHidden) = (false, false, false)
        (identifier, accessGroup, label, hash, name, certificate) = ([], "", "", [], [], [])
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard let kind = Kind(rawValue: try reader.integer()) else { throw FrameError("unknown kind of key object") }
        let traits = try reader.integer(UInt8.self)
        self.kind = kind
        isInEnclave = traits & 1 != 0
        needsPerson = traits & 2 != 0
        isHidden = traits & 4 != 0
        identifier = try reader.bytes(16)
        accessGroup = try reader.string(limit: .max)
        label = try reader.string(limit: .max)
        hash = Array(try reader.counted())
        name = Array(try reader.counted())
        keyType = try reader.integer()
        sizeInBits = Int(try reader.integer(UInt32.self))
        publicKey = Array(try reader.counted())
        certificate = Array(try reader.counted())
        keyInfo = Array(try reader.counted())
        parts = try reader.list(limit: 3) { (reader) throws(FrameError) in Array(try reader.counted()) }
        try reader.finish()
    }
}

/// What a private or secret key is used for.
package enum ClientKeyPurpose: UInt8, Sendable {
    case sign = 1
    case decrypt = 2
    case agree = 3
    case encrypt = 4
    case decapsulate = 5
}
