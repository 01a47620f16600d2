import Access
import Bytes
import FoundationEssentials
import Frames
import KeychainModel

/// Makes a key, or takes one in, and stores it in the client's first access group: of a pair, both halves. Replies what
/// ``UseKey`` finds it by: the SHA-1 of the public key, or a random name of 20 bytes for a secret key.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` for bytes that are no such key, or for a key that the enclave or
///   the keychain does not have, ``VaultError/duplicateItem`` for a key that is there.
package struct AddKey: UnaryOperation {
    package enum KeyClass: UInt8, Sendable {
        /// A public key alone, which has ``AddKey/value``.
        case `public` = 0
        /// A pair.
        case `private` = 1
        /// A key of AES or HMAC.
        case secret = 2
    }

    package var keyClass: KeyClass
    /// The number of `kSecAttrKeyType`; 0 for a key of HMAC.
    package var keyType: Int64
    package var sizeInBits: UInt32
    /// Whether the private half is made in the vault's enclave, which it never leaves.
    package var isInEnclave: Bool
    package var label: String
    /// What the client calls the key (CKA_ID), at most 255 bytes; empty for the vault's own choice.
    package var name: Data
    /// The key: as `SecKeyCopyExternalRepresentation` has it, or the bytes of a secret key. Empty for a new one.
    package var value: Data

    package init(
        _ keyClass: KeyClass, _ keyType: Int64, sizeInBits: UInt32, isInEnclave: Bool = false, label: String,
        name: Data = Data(), value: Data = Data()
    ) {
        (self.keyClass, self.keyType, self.sizeInBits) = (keyClass, keyType, sizeInBits)
        (self.isInEnclave, self.label, self.name, self.value) = (isInEnclave, label, name, value)
    }

    package typealias Reply = Data

    package static let number: UInt8 = 47
    package static let name = "add-key"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.keys.add(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(keyClass.rawValue, keyType, sizeInBits, isInEnclave, label, name)
        buffer.write(value)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        keyClass = try reader.coded("class of key", KeyClass.init(rawValue:))
        keyType = try reader.read()
        sizeInBits = try reader.read()
        isInEnclave = try reader.read()
        label = try reader.string(limit: 1 << 16)
        name = try reader.read()
        value = .wipedWhenFreed(try reader.read())
    }
}
