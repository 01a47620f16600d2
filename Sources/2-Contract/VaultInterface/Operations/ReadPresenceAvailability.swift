import Access

/// Replies what a person could be asked for now. Asks nobody.
package struct ReadPresenceAvailability: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = PresenceAvailability

    package static let number: UInt8 = 17
    package static let name = "presence-availability"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.presence.availability(self, as: client)
    }
}
