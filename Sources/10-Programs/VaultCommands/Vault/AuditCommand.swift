import Access
import ArgumentParser
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Shows and checks the vault's audit log.
struct AuditCommand: DocumentedCommand {
    static let summary = "Show the audit log: who read, changed or unlocked what, and what was refused."
    static let details = """
        Each event is one line, oldest first: number, time in UTC, event, client, and what else is known. There are \
        two logs, and each counts by itself: one for what only looks, whose numbers follow the word looks, and one for \
        everything else. Equal events of one program within a minute are one line with their number, which is written \
        after them and shown where the first of them belongs. On a \
        terminal the fields are in columns, otherwise they are separated by tabs. With --json, each event is one JSON \
        object. The log holds no secret and no attribute of an item. It shows an access group and an item as digests \
        that only this vault can make.

        With --item, only the events of the passwords with that service and account are shown, of every access \
        group and also of deleted ones: who read it, changed it, or asked for it and was refused. A message tells if \
        further events do not say which items they were about.

        keychaind always keeps a log. Without keychaind, use the vault with KEYCHAIN_AUDIT=1 in the environment to \
        begin one; from then on every program that opens the vault keeps it.

        With --verify, every record is checked. The exit status is 1 if a record was changed, added or removed. The \
        check does not notice an older copy of the whole folder that was put back. In a vault with a passcode, the \
        keys of the records need an unlocking: the command asks for the passcode if the vault was not unlocked since \
        keychaind started. If nobody can be asked, it checks how the records hang together, and the exit status is 36.
        """
    static let examples = [
        Example("The last events", "keychain audit --limit 20"),
        Example("What was refused since yesterday", "keychain audit --since 1d --json | jq 'select(.failure)'"),
        Example("Who read this password", "keychain audit --item mail ada --json | jq 'select(.event == \"read\")'"),
        Example("Check it, as a job at night should", "keychain audit --verify"),
    ]
    static let configuration: CommandConfiguration = documented("audit")

    @Flag(help: "Check the whole log instead of showing it.")
    var verify = false

    @Option(help: "Show only events since 2026-11-21 or 2026-11-21T09:45:00Z, or of the last 90s, 10m, 12h or 7d.")
    var since: String?

    @Option(help: "Show at most this many events, the last ones.")
    var limit: Int?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Show only events of this password, named by its service and account.", valueName: "name"))
    var item: [String] = []

    @Flag(help: "Show only requests that programs made through a broker, and refreshes of logins.")
    var broker = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        if let limit, limit < 0 { throw Failure.usage("--limit takes a number from 0 on: see `keychain help audit`") }
        guard item.isEmpty || item.count == 2 else {
            throw Failure.usage("--item takes a service and an account: see `keychain help audit`")
        }
        var query = AuditQuery(since: try since.map(Self.moment), limit: broker ? nil : limit)
        if item.count == 2 { query.item = AuditQuery.Item(service: item[0], account: item[1]) }
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if verify { return try check(session) }
        var (records, unclear) = try records(query, session)
        if broker { records = records.filter { $0.request != nil }.suffix(limit ?? .max) }
        if unclear > 0, !broker {
            CommandNote.show(
                "\(unclear) more \(unclear == 1 ? "record does" : "records do") not name every item: "
                    + "`keychain audit` shows all records")
        }
        guard !records.isEmpty else { return }
        if json {
            for record in records { try StandardOutput.write(json: record) }
        } else if broker {
            let heads = ["time", "program", "secrets", "request", "status", "out", "in", "outcome"]
            try StandardOutput.write(Table(records.map(\.requestRow), heads: heads))
        } else {
            try StandardOutput.write(Table(records.map(\.row), heads: ["number", "time", "event", "program", "what"]))
        }
    }

    /// What the log has. Unlocks the vault if the name of an item needs that.
    private func records(_ query: AuditQuery, _ session: VaultSession) throws -> (records: [AuditRecord], unclear: Int)
    {
        do {
            return try session.perform(ReadAudit(query))
        } catch {
            guard case .interactionNotAllowed = error, try session.unlockIfPossible() else { throw error }
            return try session.perform(ReadAudit(query))
        }
    }

    private struct Answer: Encodable {
        var records: Int
        var earlierKeys: Int
        var missed: Int
        var problems: [String]
    }

    private func check(_ session: VaultSession) throws {
        var report = try session.perform(VerifyAudit())
        var isLocked = false
        // Reading the status is recorded, and is not needed where there is nothing to unlock.
        if report.recordsOfEarlierKeys > 0, try session.perform(ReadPresenceAvailability()).isPasscodeSet {
            let status = try session.perform(ReadStatus())
            isLocked = status.isPasscodeSet && status.lockState == .beforeFirstUnlock
            if isLocked, try session.unlockIfPossible() {
                isLocked = false
                report = try session.perform(VerifyAudit())
            }
        }
        if json {
            try StandardOutput.write(
                json: Answer(
                    records: report.records, earlierKeys: report.recordsOfEarlierKeys, missed: report.missedEvents,
                    problems: report.problems))
        } else {
            var rows = [["records", "\(report.records)"]]
            if report.recordsOfEarlierKeys > 0 {
                rows.append([
                    "their keys are absent",
                    "\(report.recordsOfEarlierKeys), checked only through the later records",
                ])
            }
            if report.missedEvents > 0 { rows.append(["could not be written", "\(report.missedEvents)"]) }
            rows += report.problems.map { ["problem", $0] }
            try StandardOutput.write(line: Table(rows).text(aligned: true))
        }
        let count = report.problems.count
        guard count == 0 else {
            throw Failure(
                status: errSecDecode,
                "the audit log was changed (\(count) \(count == 1 ? "problem" : "problems")): "
                    + "find out who could write to the vault's folder")
        }
        guard !isLocked else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "the records hang together, but who wrote them could not be checked, because the vault is locked: "
                    + "unlock it, or give the passcode with --passcode-fd")
        }
    }

    /// Returns the time that `text` names, in milliseconds since 1970.
    private static func moment(_ text: String) throws -> Int64 {
        if let date = Moment.date(text, direction: -1) { return Int64(clamping: date.timeIntervalSince1970 * 1_000) }
        throw Failure.usage("'\(text.escapedForTerminal)' is not a time: see `keychain help audit`")
    }
}

extension AuditRecord {
    /// The record as a line of a table.
    package var row: [String] {
        var facts: [String] = []
        if let operation { facts.append(operation) }
        if let itemClass { facts.append(itemClass) }
        if let items { facts.append(items == 1 ? "1 item" : "\(items) items") }
        if let itemDigests { facts.append("item \(itemDigests.joined(separator: " "))") }
        if let group { facts.append("group \(group)") }
        if let request { facts.append(request.text) }
        if let count, count > 1 { facts.append("\(count) times") }
        if let until { facts.append("until \(Self.text(until))") }
        if let failure { facts.append("failed: \(failure)") }
        if let process { facts.append("process \(process)") }
        if let user { facts.append("user \(user)") }
        if let torn { facts.append("\(torn) bytes of an unfinished record") }
        if let lost { facts.append("\(lost) records gone") }
        if let missed { facts.append("\(missed) earlier events could not be written") }
        return [
            log == nil ? "\(sequence)" : "looks \(sequence)", Self.text(time),
            event.escapedForTerminal, (client ?? "-").escapedForTerminal,
            facts.joined(separator: ", ").escapedForTerminal,
        ]
    }

    /// The request that it tells of as a line of a table.
    var requestRow: [String] {
        guard let request else { return row }
        let times = count.map { $0 > 1 ? " (\($0) times)" : "" } ?? ""
        return [
            Self.text(time), (request.program ?? "-").escapedForTerminal,
            request.secrets.joined(separator: " ").escapedForTerminal, request.target.escapedForTerminal,
            request.status.map { "\($0)" } ?? "-", "\(request.sent)", "\(request.received)",
            (request.outcome.rawValue + (request.reason.map { ": \($0)" } ?? "") + times).escapedForTerminal,
        ]
    }

    private static func text(_ time: Int64) -> String {
        Timestamp(Date(timeIntervalSince1970: Double(time) / 1_000)).shown
    }
}

extension BrokeredRequest {
    /// What was asked of which server.
    fileprivate var target: String {
        method.map { "\($0) \(host):\(port)\(path ?? "")" } ?? "connection to \(host):\(port)"
    }

    fileprivate var text: String {
        var facts = ["\(outcome.rawValue) \(target)"]
        if !secrets.isEmpty { facts.append("secrets \(secrets.joined(separator: " "))") }
        if let program { facts.append("for \(program)") }
        if let status { facts.append("status \(status)") }
        facts.append("\(sent) bytes out, \(received) in")
        if let reason { facts.append(reason) }
        return facts.joined(separator: ", ")
    }
}
