/// Folds rejections of connections that repeat, so that nobody fills the log by connecting.
///
/// The first rejection of a user for a reason is told at once. Further ones are counted, and told together: at most one
/// line in ten seconds for each user and reason.
struct RejectionLog {
    /// What the log is to say: how often a user's connections were rejected for a reason.
    struct Line: Equatable {
        /// Nil if nobody knows the user.
        var user: UInt32?
        var reason: String
        var count: Int
    }

    private struct Key: Hashable {
        var user: UInt32?
        var reason: String
    }

    private struct Entry {
        var told: ContinuousClock.Instant
        var untold = 0
    }

    private var entries: [Key: Entry] = [:]

    static let interval = Duration.seconds(10)
    /// The most reasons of one user that are told apart, and the most of all users: clients choose what is wrong with
    /// their messages.
    static let mostReasons = 8
    static let mostEntries = 64
    static let otherReasons = "other reasons"

    /// Takes note of a rejection.
    ///
    /// - Returns: The lines to log.
    mutating func record(_ reason: String, user: UInt32?, at now: ContinuousClock.Instant) -> [Line] {
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

    private func key(for reason: String, _ user: UInt32?) -> Key {
        let key = Key(user: user, reason: reason)
        if entries[key] != nil { return key }
        guard entries.count < Self.mostEntries else { return Key(user: nil, reason: Self.otherReasons) }
        let isFull = entries.keys.count { $0.user == user } >= Self.mostReasons
        return isFull ? Key(user: user, reason: Self.otherReasons) : key
    }
}
