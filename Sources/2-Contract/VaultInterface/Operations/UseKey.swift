import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Uses a private or secret key of the keychain where it is: in the vault's enclave, or in the vault's process. Its
/// secret bytes do not go to the client. Asks a person if the key wants one.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` for an algorithm that the key does not have, or for input that it
///   does not take.
package struct UseKey: UnaryOperation {
    package enum Purpose: UInt8, Sendable {
        /// Replies the signature, or the code of HMAC.
        case sign = 1
        /// Replies the plaintext.
        case decrypt = 2
        /// Replies the shared secret with the public key that is the input.
        case agree = 3
        /// Replies the ciphertext of a secret key.
        case encrypt = 4
        /// Replies the shared secret in the capsule that is the input (FIPS 203).
        case decapsulate = 5
    }

    /// The access group of the private half, or of the secret key.
    package var accessGroup: String
    /// SHA-1 of the public key, or the name of the secret key.
    package var hash: Data
    package var purpose: Purpose
    /// Apple's name, such as `algid:sign:ECDSA:digest-X962`; of a secret key, such as `AES:GCM:128`
    /// (Documentation/Specify/Protocol.md); ``postQuantum``.
    package var algorithm: String
    package var input: Data
    /// The nonce of GCM, the vector of CBC, the context of ML-DSA; else empty.
    package var context: Data
    /// What GCM authenticates besides.
    package var binding: Data
    package var options: AuthenticationOptions

    package init(
        _ hash: Data, in accessGroup: String, to purpose: Purpose, by algorithm: String, _ input: Data,
        context: Data = Data(), binding: Data = Data(), options: AuthenticationOptions = .init()
    ) {
        (self.accessGroup, self.hash, self.purpose) = (accessGroup, hash, purpose)
        (self.algorithm, self.input, self.context) = (algorithm, input, context)
        (self.binding, self.options) = (binding, options)
    }

    /// The algorithm of keys of ML-DSA and ML-KEM, which have no other.
    package static let postQuantum = "ML"

    package typealias Reply = Data

    package static let number: UInt8 = 46
    package static let name = "use-key"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package var authentication: AuthenticationOptions? { options }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.keys.use(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(accessGroup, hash, purpose.rawValue, algorithm, input)
        buffer.write(context, binding, options)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        accessGroup = try reader.read()
        hash = try reader.read()
        purpose = try reader.coded("purpose of a key", Purpose.init(rawValue:))
        algorithm = try reader.string(limit: 256)
        input = try reader.read()
        context = try reader.read()
        binding = try reader.read()
        options = try reader.read()
    }
}
