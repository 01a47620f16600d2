import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Makes a key pair and stores both halves in the client's first access group. Replies the SHA-1 of the public key, by
/// which both are found.
package struct MakeKeyPair: UnaryOperation {
    /// The number of `kSecAttrKeyType`.
    package var keyType: Int64
    package var sizeInBits: UInt32
    /// Whether the private half is made in the vault's enclave, which it never leaves.
    package var isInEnclave: Bool
    package var label: String

    package init(_ keyType: Int64, sizeInBits: UInt32, isInEnclave: Bool, label: String) {
        (self.keyType, self.sizeInBits) = (keyType, sizeInBits)
        (self.isInEnclave, self.label) = (isInEnclave, label)
    }

    package typealias Reply = Data

    package static let number: UInt8 = 47
    package static let name = "make-key-pair"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.keys.make(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(keyType, sizeInBits, isInEnclave, label) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        keyType = try reader.read()
        sizeInBits = try reader.read()
        isInEnclave = try reader.read()
        label = try reader.string(limit: 1 << 16)
    }
}
