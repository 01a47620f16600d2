import Access
import Frames

// The audit log's records.

extension WireBuffer {
    package func append(_ record: AuditRecord) {
        append(record.sequence)
        append(record.time)
        append(record.event)
        append(optional: record.client) { append($0) }
        append(optional: record.operation) { append($0) }
        append(optional: record.itemClass) { append($0) }
        append(optional: record.group) { append($0) }
        append(optional: record.items) { append(UInt64(clamping: $0)) }
        append(optional: record.failure) { append($0) }
        append(optional: record.missed) { append(UInt64(clamping: $0)) }
        append(optional: record.lost) { append($0) }
        append(optional: record.torn) { append(UInt64(clamping: $0)) }
        append(optional: record.key) { append($0) }
        append(optional: record.previous) { append($0) }
    }

    package func append(_ report: AuditReport) {
        append(UInt64(clamping: report.records))
        append(UInt64(clamping: report.recordsOfEarlierKeys))
        append(UInt64(clamping: report.missedEvents))
        append(list: report.problems.prefix(WireLimits.reports)) { append($0) }
    }
}

extension WireReader {
    package mutating func auditRecord() throws(WireError) -> AuditRecord {
        var record = AuditRecord(
            sequence: try integer(UInt64.self), time: try integer(Int64.self), event: try string())
        record.client = try optionalString()
        record.operation = try optionalString()
        record.itemClass = try optionalString()
        record.group = try optionalString()
        record.items = try optionalCount()
        record.failure = try optionalString()
        record.missed = try optionalCount()
        record.lost = try optional { reader throws(WireError) in try reader.integer(UInt64.self) }
        record.torn = try optionalCount()
        record.key = try optionalString()
        record.previous = try optionalString()
        return record
    }

    private mutating func optionalCount() throws(WireError) -> Int? {
        try optional { reader throws(WireError) in Int(clamping: try reader.integer(UInt64.self)) }
    }

    package mutating func auditReport() throws(WireError) -> AuditReport {
        AuditReport(
            records: Int(clamping: try integer(UInt64.self)),
            recordsOfEarlierKeys: Int(clamping: try integer(UInt64.self)),
            missedEvents: Int(clamping: try integer(UInt64.self)), problems: try strings(limit: WireLimits.reports))
    }
}
