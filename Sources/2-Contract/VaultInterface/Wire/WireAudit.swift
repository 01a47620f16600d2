import Access
import Frames

// The audit log.

extension AuditRecord: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            sequence, time, event, client, user, process.map(UInt32.init(bitPattern:)), operation, itemClass, group,
            items, failure, count, until, missed, lost,
            torn, key, previous, other, log)
        buffer.write(list: (itemDigests ?? []).prefix(AccessRequest.mostItemDigests))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(sequence: try reader.read(), time: try reader.read(), event: try reader.read())
        client = try reader.read()
        user = try reader.read()
        process = try reader.read(UInt32?.self).map(Int32.init(bitPattern:))
        operation = try reader.read()
        itemClass = try reader.read()
        group = try reader.read()
        items = try reader.read()
        failure = try reader.read()
        count = try reader.read()
        until = try reader.read()
        missed = try reader.read()
        lost = try reader.read()
        torn = try reader.read()
        key = try reader.read()
        previous = try reader.read()
        other = try reader.read()
        log = try reader.read()
        let digests: [String] = try reader.list(limit: AccessRequest.mostItemDigests)
        itemDigests = digests.isEmpty ? nil : digests
    }
}

extension AuditReport: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(records, recordsOfEarlierKeys, missedEvents)
        buffer.write(list: problems.prefix(WireLimits.reports))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            records: try reader.read(), recordsOfEarlierKeys: try reader.read(), missedEvents: try reader.read(),
            problems: try reader.list(limit: WireLimits.reports))
    }
}
