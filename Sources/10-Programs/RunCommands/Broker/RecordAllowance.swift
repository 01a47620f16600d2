import Access
import FoundationEssentials

/// How many records a run may still write into the audit log. Its program decides how many requests there are, and must
/// not push out what else the log has.
struct RecordAllowance {
    /// At once, and in a day: less than a tenth of what the log keeps.
    private static let most = 20_000.0
    private static let day: TimeInterval = 86_400
    /// How often what was only counted is told, in seconds.
    private static let pause: TimeInterval = 60

    private var left = Self.most
    private var time: Date
    /// The last of the requests that were only counted, and how many there were.
    private var counted: (last: BrokeredRequest, count: Int, since: Date)?

    init(now: Date = Date()) { time = now }

    /// - Returns: What is to be recorded now; nil for a request that is only counted.
    mutating func take(_ request: BrokeredRequest, now: Date = Date()) -> BrokeredRequest? {
        left = min(Self.most, left + max(0, now.timeIntervalSince(time)) / Self.day * Self.most)
        time = now
        if counted == nil, left >= 1 {
            left -= 1
            return request
        }
        var last = request
        // Of all that were counted, the record names the secrets.
        last.secrets += counted?.last.secrets.filter { !request.secrets.contains($0) } ?? []
        counted = (last, (counted?.count ?? 0) + 1, counted?.since ?? now)
        guard let since = counted?.since, now.timeIntervalSince(since) >= Self.pause else { return nil }
        return finish()
    }

    /// - Returns: A record for all that was only counted; nil if there is nothing.
    mutating func finish() -> BrokeredRequest? {
        guard let (last, count, _) = counted else { return nil }
        counted = nil
        left = max(0, left - 1)
        var record = last
        guard count > 1 else { return record }
        record.reason = "and \(count - 1) requests before it, which are not listed: this run made too many"
        return record
    }
}
