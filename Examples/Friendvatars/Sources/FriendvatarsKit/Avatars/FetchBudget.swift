/// How often a service is asked in an account's name, so that nobody floods it, or fills the disk, through a list that
/// changes all the time.
struct FetchBudget {
    private struct Used {
        var since: ContinuousClock.Instant
        var count = 0
    }

    /// So many in ``period``: twice what is on a full list.
    static let limit = 2 * FriendList.maximalCount
    static let period = Duration.seconds(3_600)

    private var used: [Account.ID: Used] = [:]

    /// - Returns: Whether there is one left, which is then taken.
    mutating func take(for account: Account.ID, at now: ContinuousClock.Instant) -> Bool {
        if used.count > 10_000 { used = used.filter { now - $0.value.since < Self.period } }
        var mine = used[account] ?? Used(since: now)
        if now - mine.since >= Self.period { mine = Used(since: now) }
        guard mine.count < Self.limit else { return false }
        mine.count += 1
        used[account] = mine
        return true
    }
}
