import Access
import Bytes

/// Makes a recovery key like ``MakeRecoveryKey``, unless the vault has one.
///
/// Two programs that find none at the same time would otherwise both print a key, of which only the later one is good.
///
/// - Throws: ``VaultError/invalidRequest(reason:)`` if there is a recovery key.
package struct MakeFirstRecoveryKey: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = MakeRecoveryKey.Reply

    package static let number: UInt8 = 44
    package static let name = "make-first-recovery-key"
    package static let traits: OperationTraits = [.usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        Reply(text: try engine.recovery.makeKey(self, as: client))
    }
}
