import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Sends the keys and certificates that the client may see, without secret bytes, also while the vault is locked.
/// Asks nobody. For programs that see keys as objects of a token (PKCS #11).
package struct CopyKeyObjects: VaultOperation {
    /// Of keys and certificates with this label alone; nil for all.
    package var label: String?
    /// Whether generic passwords are sent too.
    package var includingPasswords: Bool

    package init(label: String? = nil, includingPasswords: Bool = false) {
        (self.label, self.includingPasswords) = (label, includingPasswords)
    }

    package typealias Part = KeyObject
    package typealias Reply = Done

    package static let number: UInt8 = 45
    package static let name = "copy-key-objects"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: Sink<KeyObject>
    ) throws(VaultError) -> Reply {
        try engine.keys.copy(self, as: client, send: send)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(label, includingPasswords) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        label = try reader.read()
        includingPasswords = try reader.read()
    }
}

/// A key, a certificate or a password, without secret bytes.
package struct KeyObject: WireValue, Equatable {
    package enum Kind: UInt8, Sendable {
        case publicKey = 1
        case privateKey = 2
        case certificate = 3
        /// A key of AES or HMAC.
        case secretKey = 4
        case password = 5
    }

    package struct Traits: OptionSet, Sendable, Equatable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The vault's enclave keeps the private half.
        package static let isInEnclave = Traits(rawValue: 1)
        /// Each use needs a person.
        package static let needsPerson = Traits(rawValue: 2)
        /// The lock hides the private half, of which only its public half tells.
        package static let isLocked = Traits(rawValue: 4)
    }

    package var kind: Kind
    package var traits: Traits
    /// The item; of a half that has none of its own, or that the lock hides, that of the other half.
    package var identifier: UUID
    package var accessGroup: String
    package var label: String
    /// SHA-1 of the public key, which halves and certificates of one pair share; the name of a secret key; empty if it
    /// is not known.
    package var hash: Data
    /// What the client that made the key calls it (CKA_ID); empty if it made no choice.
    package var name: Data = Data()
    /// The number of `kSecAttrKeyType`.
    package var keyType: Int64
    package var sizeInBits: UInt32
    /// The public key: `04 ‖ X ‖ Y` on a curve of SEC 2, PKCS #1 for RSA, 32 bytes for Ed25519, as FIPS 203
    /// and 204 have it for ML-KEM and ML-DSA; empty if it can be read with the private half alone.
    package var publicKey: Data
    /// The certificate in DER; empty for keys.
    package var certificate: Data
    /// The public key in DER, as certificates have it (`SubjectPublicKeyInfo` of RFC 5280); empty if it is not known.
    package var keyInfo: Data = Data()
    /// Of an RSA key, its modulus and its exponent, big-endian; of a certificate, its subject, issuer and serial number
    /// in DER; of a password, its service and account in UTF-8; else none.
    package var parts: [Data] = []

    package init(
        kind: Kind, traits: Traits = [], identifier: UUID, accessGroup: String, label: String, hash: Data,
        keyType: Int64, sizeInBits: UInt32, publicKey: Data, certificate: Data = Data()
    ) {
        (self.kind, self.traits, self.identifier, self.accessGroup) = (kind, traits, identifier, accessGroup)
        (self.label, self.hash, self.keyType, self.sizeInBits) = (label, hash, keyType, sizeInBits)
        (self.publicKey, self.certificate) = (publicKey, certificate)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(kind.rawValue, traits.rawValue, identifier, accessGroup, label, hash)
        buffer.write(name, keyType, sizeInBits, publicKey, certificate, keyInfo)
        buffer.write(list: parts)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        kind = try reader.coded("kind of key object", Kind.init(rawValue:))
        traits = Traits(rawValue: try reader.read())
        identifier = try reader.read()
        accessGroup = try reader.read()
        label = try reader.read()
        hash = try reader.read()
        name = try reader.read()
        keyType = try reader.read()
        sizeInBits = try reader.read()
        publicKey = try reader.read()
        certificate = try reader.read()
        keyInfo = try reader.read()
        parts = try reader.list(limit: 3)
    }
}
