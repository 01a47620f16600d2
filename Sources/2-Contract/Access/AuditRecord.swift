/// One line of an audit log, as it is read.
package struct AuditRecord: Codable, Sendable, Equatable {
    /// Counts from 1, without gaps, over all files of one log.
    package var sequence: UInt64
    /// Milliseconds since 1970-01-01 00:00:00 UTC.
    package var time: Int64
    /// A kind of event by its raw value, or one of ``began`` and ``repaired``.
    package var event: String
    package var client: String?
    /// The user and the number of the process that asked; no number for several processes.
    package var user: UInt32?
    package var process: Int32?
    package var operation: String?
    /// The class of items by Apple's name.
    package var itemClass: String?
    /// A keyed digest of the access group that the request named.
    package var group: String?
    /// Keyed digests of the items that the request named, or that were handed out or changed; see ``digest(_:)``.
    package var itemDigests: [String]?
    package var items: Int?
    package var failure: String?
    /// What a broker tells of a request.
    package var request: BrokeredRequest?
    /// How many equal events the record stands for, where it is not one.
    package var count: Int?
    /// When the last of them was.
    package var until: Int64?
    /// How many events before this one could not be written.
    package var missed: Int?
    /// How many records were found to be gone.
    package var lost: UInt64?
    /// How many bytes of an unfinished record were taken away.
    package var torn: Int?
    /// The keybag whose key authenticates the records from here on.
    package var key: String?
    /// The link that this record continues, where it begins a file or a key.
    package var previous: String?
    /// The number of the last record of the other log, as it was when this record was written.
    package var other: UInt64?
    /// Which log the record is from: ``looks``, or nil for the other. Not stored.
    package var log: String?

    /// The log of events that only look.
    package static let looks = "looks"

    /// A file of the log, or the use of another key, begins.
    package static let began = "began"
    /// The end of the log was not as it had been left.
    package static let repaired = "repaired"
    /// The ``failure`` of a record ``repaired``: an unlocking found no anchor, or one that was changed.
    package static let anchorLost = "anchor"
    /// The ``failure`` of a record ``repaired``: an unlocking found that records since the last one were changed.
    package static let changedSinceAnchor = "changed"

    package init(sequence: UInt64, time: Int64, event: String) {
        self.sequence = sequence
        self.time = time
        self.event = event
    }

    package enum CodingKeys: String, CodingKey {
        case sequence = "seq"
        case time, event, client
        case user = "uid"
        case process = "pid"
        case operation
        case itemClass = "class"
        case group
        case itemDigests = "item"
        case items, failure, request, count, until, missed, lost, torn, key, previous, other, log
    }
}
