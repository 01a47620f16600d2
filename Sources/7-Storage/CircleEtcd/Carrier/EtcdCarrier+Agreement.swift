#if HTTPClientSupport
import Bytes
import Foundation
import VaultInterface

extension EtcdCarrier {
    /// How long the carrier waits, in seconds, before it compares or tells again: twice as long each time. The vault
    /// limits how often it makes a head.
    private static let firstRecheck = 10
    private static let lastRecheck = 900
    /// How many of the versions that a member speaks of are looked for at once.
    private static let mostLookups = 16

    /// Compares the heads of other members with what etcd shows this vault, and notes since when something is missing.
    func compare(_ state: CollectedObjects) async throws {
        guard state.standing == .member, state.heads != compared else { return }
        let gone = Set(state.gone)
        var findings = CircleFindings()
        for head in state.heads {
            findings.note(head.log, of: head.member)
            let missing = EtcdClaims(decoding: head.statement).missing(in: place.claims, views: state.views) { member in
                member <= state.lastMember && !gone.contains(member)
            }
            for (writer, claim) in missing.prefix(Self.mostLookups) where try await !isThere(writer, claim, state) {
                findings.note(writer.member == head.member ? .behind : .withheld(by: head.member), of: writer.member)
            }
        }
        compared = state.heads
        findings.keepTimes(from: place.findings.since, now: now())
        for text in findings.alarms(at: now()) { report.alarm(text) }
        guard findings != place.findings else { return }
        place.findings = findings
        try await store()
    }

    /// Whether etcd has a version that another member claims, or a later one of the same item. The vault takes what
    /// etcd has: the watch may not have told it yet.
    private func isThere(_ writer: EtcdClaims.Writer, _ claim: EtcdClaims.Claim, _ state: CollectedObjects) async throws
        -> Bool
    {
        guard let circle = state.circle else { return true }
        let keys = EtcdKeys(circle: circle)
        let area = keys.versions(of: writer.view + claim.item)
        let newest = EtcdRange(key: area.begin, range_end: area.end, sort_order: "DESCEND", sort_target: "KEY")
        let entries = try await readPage(newest, limit: Self.leastPage).page.kvs ?? []
        try await apply(entries, keys)
        let version = Data(claim.time.bigEndianBytes) + Data(writer.member.bigEndianBytes)
        return entries.contains { entry in
            guard let found = EtcdKeys.version(of: entry.value ?? Data()) else { return false }
            return !found.lexicographicallyPrecedes(version)
        }
    }

    /// Has the carrier look again later, as long as something is not told yet or missing.
    func lookAgainLater(_ bell: Bell) {
        reminder?.cancel()
        reminder = nil
        let isSettled = told == place.claims.statement && place.findings.findings.isEmpty
        if isSettled { recheckDelay = Self.firstRecheck }
        // After the longest wait, only a new event starts a comparison.
        guard !isSettled, recheckDelay <= Self.lastRecheck else { return }
        let seconds = recheckDelay
        reminder = Task { [weak self] in
            try? await Task.sleep(for: .seconds(seconds))
            guard !Task.isCancelled else { return }
            await self?.compareAnew(nextAfter: 2 * seconds)
            await bell.ring()
        }
    }

    private func compareAnew(nextAfter seconds: Int) { (recheckDelay, compared) = (seconds, []) }

    /// Has the carrier tell the others once more: the list of members became another one.
    func tellAnew() { (told, recheckDelay) = (nil, Self.firstRecheck) }
}
#endif
