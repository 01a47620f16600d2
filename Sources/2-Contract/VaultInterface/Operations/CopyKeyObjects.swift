import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Sends the keys and certificates that the client may see, without secret bytes, also while the vault is locked.
/// Asks nobody. For programs that see keys as objects of a token (PKCS #11).
package struct CopyKeyObjects: VaultOperation {
    /// Of keys and certificates with this label alone; nil for all.
    package var label: String?

    package init(label: String? = nil) { self.label = label }

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

    package func encode(to buffer: FrameBuffer) { buffer.write(label) }

    package init(from reader: inout FrameReader) throws(FrameError) { label = try reader.read() }
}

/// A key or a certificate, without secret bytes.
package struct KeyObject: WireValue, Equatable {
    package enum Kind: UInt8, Sendable {
        case publicKey = 1
        case privateKey = 2
        case certificate = 3
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
    /// SHA-1 of the public key, which halves and certificates of one pair share; empty if it is not known.
    package var hash: Data
    /// The number of `kSecAttrKeyType`.
    package var keyType: Int64
    package var sizeInBits: UInt32
    /// The public key: `04 ‖ X ‖ Y` on a curve of SEC 2, PKCS #1 for RSA, 32 bytes for Ed25519; empty if it can be read
    /// with the private half alone.
    package var publicKey: Data
    /// The certificate in DER; empty for keys.
    package var certificate: Data
    /// The public key in DER, as certificates have it (`SubjectPublicKeyInfo` of RFC 5280); empty if it is not known.
    package var keyInfo: Data = Data()
    /// Of an RSA key, its modulus and its exponent, big-endian; of a certificate, its subject, issuer and serial number
    /// in DER; else none.
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
        buffer.write(keyType, sizeInBits, publicKey, certificate, keyInfo)
        buffer.write(list: parts)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        kind = try reader.coded("kind of key object", Kind.init(rawValue:))
        traits = Traits(rawValue: try reader.read())
        identifier = try reader.read()
        accessGroup = try reader.read()
        label = try reader.read()
        hash = try reader.read()
        keyType = try reader.read()
        sizeInBits = try reader.read()
        publicKey = try reader.read()
        certificate = try reader.read()
        keyInfo = try reader.read()
        parts = try reader.list(limit: 3)
    }
}
