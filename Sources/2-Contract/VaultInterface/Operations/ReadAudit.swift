import Access
import Bytes
import Frames

/// Sends records of the audit log, oldest first. For clients that hold every group.
///
/// The reply is the number of records left out of a query for one item that tell of items without saying which ones.
package struct ReadAudit: VaultOperation {
    package var query: AuditQuery

    package init(_ query: AuditQuery) { self.query = query }

    package typealias Part = AuditRecord

    package typealias Reply = Int

    package static let number: UInt8 = 21
    package static let name = "audit-records"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: Sink<AuditRecord>
    ) throws(VaultError) -> Reply {
        try engine.audit.records(self, as: client, send: send)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            query.since, query.limit.map(UInt32.init(clamping:)), query.item?.service, query.item?.account)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = AuditQuery(
            since: try reader.read(), limit: try reader.read(UInt32?.self).map(Int.init))
        let service = try reader.read(String?.self)
        let account = try reader.read(String?.self)
        guard (service == nil) == (account == nil) else { throw FrameError("a part of an item's name") }
        if let service, let account { query.item = AuditQuery.Item(service: service, account: account) }
    }
}
