import Access

/// Destroys every key and every item of every group, for good.
package struct EraseVault: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = Done

    package static let code = OperationCode.eraseVault
    package static let name = "erase"
    package static let traits: OperationTraits = [.changesItems]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: (Never) throws(VaultError) -> Void
    ) throws(VaultError) -> Reply {
        try engine.maintenance.erase(self, as: client)
        return Done()
    }
}
