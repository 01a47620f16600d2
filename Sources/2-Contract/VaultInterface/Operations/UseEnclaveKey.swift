import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Uses a key of the enclave, and asks a person if its access control wants one. ``EnclaveKeyOperation`` says what it
/// replies.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` for a record that this vault did not make, or that was changed.
package struct UseEnclaveKey: UnaryOperation {
    package var key: EnclaveKeyRecord
    package var operation: EnclaveKeyOperation
    package var options: AuthenticationOptions

    package init(_ key: EnclaveKeyRecord, for operation: EnclaveKeyOperation, options: AuthenticationOptions) {
        self.key = key
        self.operation = operation
        self.options = options
    }

    package typealias Reply = Data

    package static let number: UInt8 = 25
    package static let name = "use-enclave-key"
    package static let traits: OperationTraits = [.usesClassKeys]

    package var authentication: AuthenticationOptions? { options }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.enclaveKeys.use(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(key, operation, options) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        key = try reader.read()
        operation = try reader.read()
        options = try reader.read()
    }
}
