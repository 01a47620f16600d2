import Access
import Frames

/// Sends records of the audit log, oldest first. For clients that hold every group.
package struct ReadAudit: VaultOperation {
    package var query: AuditQuery

    package init(_ query: AuditQuery) {
        self.query = query
    }

    package typealias Part = AuditRecord

    package typealias Reply = Done

    package static let code = OperationCode.readAudit
    package static let name = "audit-records"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: (AuditRecord) throws(VaultError) -> Void
    ) throws(VaultError) -> Reply {
        try engine.perform(self, as: client, send: send)
        return Done()
    }

    package func encode(to buffer: WireBuffer) {
        buffer.append(optional: query.since) { buffer.append($0) }
        buffer.append(optional: query.limit) { buffer.append(UInt32(clamping: $0)) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        query = AuditQuery(
            since: try reader.optional { reader throws(WireError) in try reader.integer(Int64.self) },
            limit: try reader.optional { reader throws(WireError) in Int(try reader.integer(UInt32.self)) })
    }
}
