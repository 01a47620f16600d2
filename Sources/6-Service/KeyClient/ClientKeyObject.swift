import Frames
import PlainBytes

/// A key or a certificate of the keychain, without secret bytes. The daemon's `KeyObject` is its source.
package struct ClientKeyObject: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        case publicKey = 1
        case privateKey = 2
        case certificate = 3
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
    /// SHA-1 of the public key.
    package var hash: [UInt8]
    /// Apple's number of the key's type (`kSecAttrKeyType`).
    package var keyType: Int64
    package var sizeInBits: Int
    /// `04 ‖ X ‖ Y` on a curve of SEC 2, PKCS #1 for RSA, 32 bytes for Ed25519; empty if it is not known.
    package var publicKey: [UInt8]
    /// In DER; empty for keys.
    package var certificate: [UInt8]
    /// The public key in DER, as certificates have it.
    package var keyInfo: [UInt8]
    /// Of an RSA key, its modulus and its exponent; of a certificate, its subject, issuer and serial number in DER.
    package var parts: [[UInt8]]

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
        keyType = try reader.integer()
        sizeInBits = Int(try reader.integer(UInt32.self))
        publicKey = Array(try reader.counted())
        certificate = Array(try reader.counted())
        keyInfo = Array(try reader.counted())
        parts = try reader.list(limit: 3) { (reader) throws(FrameError) in Array(try reader.counted()) }
        try reader.finish()
    }
}

/// What a private key is used for.
package enum ClientKeyPurpose: UInt8, Sendable {
    case sign = 1
    case decrypt = 2
    case agree = 3
}
