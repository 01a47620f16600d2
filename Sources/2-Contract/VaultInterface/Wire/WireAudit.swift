import Access
import Bytes
import Frames

// The audit log.

extension AuditRecord: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            sequence, time, event, client, user, process.map(UInt32.init(bitPattern:)), operation, itemClass, group,
            items, failure, count, until, missed, lost,
            torn, key, previous, other, log, request)
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
        request = try reader.read()
        let digests: [String] = try reader.list(limit: AccessRequest.mostItemDigests)
        itemDigests = digests.isEmpty ? nil : digests
    }
}

extension BrokeredRequest: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(outcome.rawValue, program, host, UInt32(clamping: port), method, path)
        buffer.write(status.map(UInt32.init(clamping:)), sent, received, reason)
        buffer.write(list: secrets.prefix(Self.mostSecrets))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard let outcome = Outcome(rawValue: try reader.read()) else { throw FrameError("an unknown outcome") }
        let program: String? = try reader.read()
        self.init(outcome, host: try reader.read(), port: Int(try reader.read(UInt32.self)))
        self.program = program
        method = try reader.read()
        path = try reader.read()
        status = try reader.read(UInt32?.self).map { Int($0) }
        sent = try reader.read()
        received = try reader.read()
        reason = try reader.read()
        secrets = try reader.list(limit: Self.mostSecrets)
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

extension AuditQuery.Item: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(service, account) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(service: try reader.read(), account: try reader.read())
    }
}
