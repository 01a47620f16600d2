#if HTTPClientSupport
import CircleEtcd
import CommandKit
import Foundation
import KeychainDaemon
import Synchronization
import VaultInterface

/// Says what happens: what changed since it was said last.
final class SyncLog: Sendable {
    private let asJSON: Bool
    private let shown = Mutex(EtcdCarrier.Report())

    init(asJSON: Bool) { self.asJSON = asJSON }

    static let removed = "this vault was removed from the circle: nothing travels to or from it"

    private struct Answer: Encodable {
        var standing: String
        var endpoint: String?
        var problem: String?
        var written: Int
        var changed: Int
        var conflicts: Int
        var waiting: Int
        var refused: Int
        var alarms: [String]
    }

    func show(_ report: EtcdCarrier.Report) {
        let before = shown.withLock { shown in
            defer { shown = report }
            return shown
        }
        guard report != before else { return }
        Systemd.notify(
            "STATUS=" + (report.problem ?? "\(report.standing) of a circle, through \(report.endpoint ?? "")"))
        if asJSON {
            try? StandardOutput.write(
                json: Answer(
                    standing: "\(report.standing)", endpoint: report.endpoint, problem: report.problem,
                    written: report.written, changed: report.changed, conflicts: report.conflicts,
                    waiting: report.waiting, refused: report.refused, alarms: report.alarms))
            return
        }
        for alarm in report.alarms.dropFirst(before.alarms.count) { CommandNote.show(alarm.escapedForTerminal) }
        if let problem = report.problem, problem != before.problem {
            CommandNote.show("nothing travels at the moment: \(problem)".escapedForTerminal)
        }
        if report.problem == nil, let endpoint = report.endpoint,
            before.endpoint == nil || before.problem != nil || before.standing != report.standing
        {
            switch report.standing {
            case .member: CommandNote.show("items travel through \(endpoint)".escapedForTerminal)
            case .joining: CommandNote.show("this machine asks to be admitted, through \(endpoint)".escapedForTerminal)
            case .removed: CommandNote.show(Self.removed)
            case .none: break
            }
        }
        let (changed, written) = (report.changed - before.changed, report.written - before.written)
        if changed > 0 || written > 0 {
            try? StandardOutput.write(line: "items changed here: \(changed), sent: \(written)")
        }
        if report.conflicts > before.conflicts {
            let count = report.conflicts - before.conflicts
            CommandNote.show(
                (count == 1 ? "1 change" : "\(count) changes")
                    + " lost against a later one that was made without knowledge of it: see `keychain circle conflicts`"
            )
        }
    }
}
#endif
