import Access
import Frames
import KeychainModel

/// Makes a key whose private half stays in the vault's enclave.
///
/// The vault does not keep the key: the caller stores its ``EnclaveKeyRecord``, and gives it for each use. The record
/// can be used only through this vault, while its protection class is open, and by a person who satisfies its
/// access control.
package struct MakeEnclaveKey: UnaryOperation {
    package var kind: EnclaveKeyKind
    package var accessControl: AccessControl
    /// An application password, if the access control has one.
    package var options: AuthenticationOptions

    package init(_ kind: EnclaveKeyKind, accessControl: AccessControl, options: AuthenticationOptions) {
        self.kind = kind
        self.accessControl = accessControl
        self.options = options
    }

    package typealias Reply = EnclaveKeyRecord

    package static let number: UInt8 = 24
    package static let name = "make-enclave-key"
    package static let traits: OperationTraits = [.usesClassKeys]

    package var authentication: AuthenticationOptions? { options }
    package func check() throws(VaultError) { try RequestCheck.check(accessControl) }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.enclaveKeys.make(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(kind, accessControl, options) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        kind = try reader.read()
        accessControl = try reader.read()
        options = try reader.read()
    }
}
