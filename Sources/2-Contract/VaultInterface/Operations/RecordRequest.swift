import Access
import Frames

/// Records in the audit log what a broker did with a program's request.
///
/// The vault knows who says so. What is said, it cannot know better.
package struct RecordRequest: UnaryOperation {
    package var request: BrokeredRequest
    /// The passwords that the request got or wanted, by service and account.
    package var items: [AuditQuery.Item]

    package init(_ request: BrokeredRequest, items: [AuditQuery.Item]) {
        self.request = request
        self.items = items
    }

    package typealias Reply = Done

    package static let number: UInt8 = 55
    package static let name = "record-request"
    package static let traits: OperationTraits = []

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.audit.record(self, as: client)
        return Done()
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(request)
        buffer.write(list: items.prefix(BrokeredRequest.mostSecrets))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        request = try reader.read()
        items = try reader.list(limit: BrokeredRequest.mostSecrets)
    }
}
