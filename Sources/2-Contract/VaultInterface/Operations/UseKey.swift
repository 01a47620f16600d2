import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Uses a private key of the keychain where it is: in the vault's enclave, or in the vault's process. Its secret bytes
/// do not go to the client. Asks a person if the key wants one.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` for an algorithm that the key does not have, or for input that it
///   does not take.
package struct UseKey: UnaryOperation {
    package enum Purpose: UInt8, Sendable {
        /// Replies the signature.
        case sign = 1
        /// Replies the plaintext.
        case decrypt = 2
        /// Replies the shared secret with the public key that is the input.
        case agree = 3
    }

    /// The access group of the private half.
    package var accessGroup: String
    /// SHA-1 of the public key.
    package var hash: Data
    package var purpose: Purpose
    /// Apple's name, such as `algid:sign:ECDSA:digest-X962`.
    package var algorithm: String
    package var input: Data
    package var options: AuthenticationOptions

    package init(
        _ hash: Data, in accessGroup: String, to purpose: Purpose, by algorithm: String, _ input: Data,
        options: AuthenticationOptions = .init()
    ) {
        (self.accessGroup, self.hash, self.purpose) = (accessGroup, hash, purpose)
        (self.algorithm, self.input, self.options) = (algorithm, input, options)
    }

    package typealias Reply = Data

    package static let number: UInt8 = 46
    package static let name = "use-key"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package var authentication: AuthenticationOptions? { options }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.keys.use(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(accessGroup, hash, purpose.rawValue, algorithm, input, options)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        accessGroup = try reader.read()
        hash = try reader.read()
        purpose = try reader.coded("purpose of a key", Purpose.init(rawValue:))
        algorithm = try reader.string(limit: 256)
        input = try reader.read()
        options = try reader.read()
    }
}
