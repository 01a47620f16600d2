import Access
import Frames

/// Destroys every key and every item of every group, for good.
package struct EraseVault: UnaryOperation {
    package init() {}

    package typealias Reply = Done

    package static let code = OperationCode.eraseVault
    package static let name = "erase"
    package static let traits: OperationTraits = [.changesItems]

    package func perform(by engine: any VaultEngine, as client: Client) throws(VaultError) -> Reply {
        try engine.perform(self, as: client)
        return Done()
    }

    package func encode(to buffer: WireBuffer) {}
    package init(from reader: inout WireReader) throws(WireError) {}
}
