import Access
import FoundationEssentials

/// Decides which events become records of their own, and counts the others: those that repeat an event, and those of a
/// program that has used up its share.
struct AuditFolds {
    /// What repeats agree in.
    private struct Key: Hashable {
        var kind: AuditEvent.Kind
        var client: String
        var program: ServedProgram?
        var operation: AccessRequest?
        var failure: AuditFailure?
        /// Without its bytes, in which repeats may differ.
        var request: BrokeredRequest?

        init(_ event: AuditEvent) {
            kind = event.kind
            client = event.client
            program = event.program
            operation = event.operation
            failure = event.failure
            request = event.request
            request?.sent = 0
            request?.received = 0
        }
    }

    /// Events that were counted since their first one was recorded.
    private struct Fold {
        var moment: AuditLog.Moment
        var count = 0
        var last: Date
        /// Counts the folds in the order in which they were begun.
        let number: Int

        mutating func count(_ event: AuditEvent, at time: Date) {
            if count == 0 {
                moment = AuditLog.Moment(event, at: time)
            } else {
                if let items = event.items { moment.event.items = (moment.event.items ?? 0) + items }
                if moment.event.process != event.process { moment.event.process?.number = nil }
            }
            count += 1
            last = time
        }
    }

    private var folds: [Key: Fold] = [:]
    private var shares: AuditShares

    /// The largest number of open folds.
    private static let capacity = 4_096

    init(_ limits: AuditShares.Limits) {
        shares = AuditShares(limits)
    }

    var isEmpty: Bool { folds.isEmpty }

    /// Adds to `moments` what is to be recorded now because of `event`.
    mutating func add(_ event: AuditEvent, at time: Date, to moments: inout [AuditLog.Moment]) {
        guard event.kind.isFree else { return moments.append(AuditLog.Moment(event, at: time)) }
        if folds.count >= Self.capacity { moments += close() }
        // Each change of an item is a record of its own, as long as its program has a share.
        let isFoldable = !event.kind.isChange || event.failure != nil
        if isFoldable, let place = folds.index(forKey: Key(event)) {
            return folds.values[place].count(event, at: time)
        }
        var event = event
        if isFoldable, event.operation?.itemDigests.isEmpty == false, !shares.hasRoomForItems(of: event, at: time) {
            // As if no record named items: asking for ever other items takes no more room than asking for one.
            event.operation?.itemDigests = []
            if let place = folds.index(forKey: Key(event)) { return folds.values[place].count(event, at: time) }
        }
        let moment = AuditLog.Moment(event, at: time)
        let shortage = shares.take(for: event, isFoldable: isFoldable, at: time)
        guard let shortage else {
            if isFoldable { folds[Key(event)] = Fold(moment: moment, last: time, number: folds.count) }
            return moments.append(moment)
        }
        var general = event
        general.operation = nil
        general.failure = nil
        general.request = nil
        if shortage == .user || folds[Key(general)] == nil && !shares.takeOfUser(for: event, at: time) {
            general.client = "programs of user \(event.program?.user ?? 0)"
            general.program?.name = ""
            general.process?.number = nil
        }
        count(general, at: time)
    }

    /// Ends all folds, and returns those that have counted something.
    mutating func close() -> [AuditLog.Moment] {
        defer { folds.removeAll(keepingCapacity: true) }
        return folds.values.filter { $0.count > 0 }.sorted { $0.number < $1.number }.map { fold in
            var moment = fold.moment
            moment.repeats = (fold.count, fold.last)
            return moment
        }
    }

    private mutating func count(_ event: AuditEvent, at time: Date) {
        let fold = Fold(moment: AuditLog.Moment(event, at: time), last: time, number: folds.count)
        folds[Key(event), default: fold].count(event, at: time)
    }
}
