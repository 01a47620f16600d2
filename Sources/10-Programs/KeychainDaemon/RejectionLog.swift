/// Folds rejections of connections and refusals of requests that repeat, so that nobody fills the log with them.
///
/// The first one of a user for a reason is told at once. Further ones are counted, and told together: at most one line
/// in ten seconds for each user and reason.
struct RejectionLog<Reason: Hashable & Comparable> {
    /// What the log is to say: how often something happened to a user for a reason.
    struct Line: Equatable {
        /// Nil if nobody knows the user.
        var user: UInt32?
        var reason: Reason
        var count: Int
    }

    private struct Key: Hashable {
        var user: UInt32?
        var reason: Reason
    }

    private struct Entry {
        var told: ContinuousClock.Instant
        var untold = 0
    }

    private var entries: [Key: Entry] = [:]

    /// Stands for the reasons beyond ``mostReasons``.
    let otherReasons: Reason

    static var interval: Duration { .seconds(10) }
    /// The most reasons of one user that are told apart, and the most of all users: clients choose what is wrong with
    /// their messages.
    static var mostReasons: Int { 8 }
    static var mostEntries: Int { 64 }

    init(otherReasons: Reason) { self.otherReasons = otherReasons }

    /// Takes note of a rejection.
    ///
    /// - Returns: The lines to log.
    mutating func record(_ reason: Reason, user: UInt32?, at now: ContinuousClock.Instant) -> [Line] {
        var lines = takeDue(at: now)
        let key = key(for: reason, user)
        if entries[key] == nil {
            entries[key] = Entry(told: now)
            lines.append(Line(user: key.user, reason: key.reason, count: 1))
        } else {
            entries[key]?.untold += 1
        }
        return lines
    }

    /// Returns the lines about rejections that were counted, and whose ten seconds are over.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [Line] {
        take {
            now - $0.told >= Self.interval
        } replacing: {
            $0.untold > 0 ? Entry(told: now) : nil
        }
    }

    /// Returns the lines about all rejections that were counted.
    mutating func takeAll() -> [Line] {
        take { _ in
            true
        } replacing: { _ in
            nil
        }
    }

    private mutating func take(
        where isDue: (Entry) -> Bool, replacing replacement: (Entry) -> Entry?
    ) -> [Line] {
        var lines: [Line] = []
        for (key, entry) in entries where isDue(entry) {
            if entry.untold > 0 { lines.append(Line(user: key.user, reason: key.reason, count: entry.untold)) }
            entries[key] = replacement(entry)
        }
        return lines.sorted { ($0.user ?? .max, $0.reason) < ($1.user ?? .max, $1.reason) }
    }

    private func key(for reason: Reason, _ user: UInt32?) -> Key {
        let key = Key(user: user, reason: reason)
        if entries[key] != nil { return key }
        guard entries.count < Self.mostEntries else { return Key(user: nil, reason: otherReasons) }
        let isFull = entries.keys.count { $0.user == user } >= Self.mostReasons
        return isFull ? Key(user: user, reason: otherReasons) : key
    }
}
