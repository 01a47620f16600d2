/// One line of an audit log, as it is read.
package struct AuditRecord: Codable, Sendable, Equatable {
    /// Counts from 1, without gaps, over all files of the log.
    package var sequence: UInt64
    /// Milliseconds since 1970-01-01 00:00:00 UTC.
    package var time: Int64
    /// A kind of event by its raw value, or one of ``began`` and ``repaired``.
    package var event: String
    package var client: String?
    package var operation: String?
    /// The class of items by Apple's name.
    package var itemClass: String?
    /// A keyed digest of the access group that the request named.
    package var group: String?
    package var items: Int?
    package var failure: String?
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

    /// A file of the log, or the use of another key, begins.
    package static let began = "began"
    /// The end of the log was not as it had been left.
    package static let repaired = "repaired"

    package init(sequence: UInt64, time: Int64, event: String) {
        self.sequence = sequence
        self.time = time
        self.event = event
    }

    package enum CodingKeys: String, CodingKey {
        case sequence = "seq"
        case time, event, client, operation
        case itemClass = "class"
        case group, items, failure, missed, lost, torn, key, previous
    }
}
