import Access

/// Replies whom the vault takes the caller for, and what it may do.
package struct DescribeCaller: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = CallerDescription

    package static let number: UInt8 = 20
    package static let name = "describe-caller"
    package static let traits: OperationTraits = [.repeatable, .concernsAllGroups]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        CallerDescription(client)
    }
}
