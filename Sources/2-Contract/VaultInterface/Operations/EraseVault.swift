import Access

/// Destroys every key and every item of every group, for good.
package struct EraseVault: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = Done

    package static let number: UInt8 = 9
    package static let name = "erase"
    package static let traits: OperationTraits = [.changesItems]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.maintenance.erase(self, as: client)
        return Done()
    }
}
