/// Which records of an audit log are asked for.
package struct AuditQuery: Sendable, Equatable {
    /// Only records of this time or later, in milliseconds since 1970; nil for all.
    package var since: Int64?
    /// Only the last so many; nil for all.
    package var limit: Int?
    /// Only records of the generic passwords with this service and account; nil for all records.
    package var item: Item?

    package init(since: Int64? = nil, limit: Int? = nil, item: Item? = nil) {
        self.since = since
        self.limit = limit
        self.item = item
    }

    /// A generic password, whichever group it is in, stored or deleted.
    package struct Item: Sendable, Equatable {
        package var service: String
        package var account: String

        package init(service: String, account: String) {
            self.service = service
            self.account = account
        }
    }
}

/// What checking an audit log found.
package struct AuditReport: Sendable, Equatable {
    /// How many records there are.
    package var records: Int
    /// Those of them that an earlier key authenticates, which went with an erase: only their order and
    /// contents are held, by the records that came after.
    package var recordsOfEarlierKeys: Int
    /// How many events could not be written, as the log itself tells.
    package var missedEvents: Int
    /// One line for each thing that is not as it was written.
    package var problems: [String]

    package init(
        records: Int = 0, recordsOfEarlierKeys: Int = 0, missedEvents: Int = 0, problems: [String] = []
    ) {
        self.records = records
        self.recordsOfEarlierKeys = recordsOfEarlierKeys
        self.missedEvents = missedEvents
        self.problems = problems
    }
}
