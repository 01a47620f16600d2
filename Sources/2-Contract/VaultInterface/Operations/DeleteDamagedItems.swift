import Access

/// Deletes every row that cannot be opened with a key that is there: damaged rows, and rows of another vault. Replies
/// how many were deleted.
///
/// Items stay whose class is locked, and items that ask for more than the class key.
package struct DeleteDamagedItems: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = Int

    package static let number: UInt8 = 23
    package static let name = "delete-damaged"
    package static let traits: OperationTraits = [.repeatable, .changesItems]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.maintenance.deleteDamaged(self, as: client)
    }
}
