#if HTTPClientSupport
import CircleEtcd
import CommandKit
import Foundation
import KeychainDaemon
import VaultInterface

/// Writes figures in the format of Prometheus (text format 0.0.4) into a file.
struct SyncMetrics: Sendable {
    let path: String

    func write(_ report: EtcdCarrier.Report) {
        let code = MetricsFile.replace(path, with: Self.text(report))
        if code != 0 {
            CommandNote.show("the figures cannot be written to \(path): \(String(cString: strerror(code)))")
        }
    }

    static func text(_ report: EtcdCarrier.Report) -> String {
        var text = ""
        func figure(_ name: String, _ kind: String, _ help: String, _ value: Double) {
            text += "# HELP keychain_sync_\(name) \(help)\n# TYPE keychain_sync_\(name) \(kind)\n"
            text +=
                "keychain_sync_\(name) \(value.formatted(.number.grouping(.never).locale(Locale(identifier: "C"))))\n"
        }
        figure("connected", "gauge", "1 while items travel.", report.problem == nil && report.endpoint != nil ? 1 : 0)
        figure("member", "gauge", "1 if the vault is a member of its circle.", report.standing == .member ? 1 : 0)
        figure(
            "answered_seconds", "gauge", "When etcd answered last, in seconds since 1970.",
            report.answered?.timeIntervalSince1970.rounded() ?? 0)
        figure("written_total", "counter", "Versions of items written to etcd.", Double(report.written))
        figure("changed_total", "counter", "Items of the vault that changed.", Double(report.changed))
        figure("conflicts_total", "counter", "Changes that lost against later ones.", Double(report.conflicts))
        figure("refused_total", "counter", "Objects that the vault refused.", Double(report.refused))
        figure("waiting", "gauge", "Objects that wait in the vault.", Double(report.waiting))
        figure("alarms", "gauge", "Different alarms since the start.", Double(report.alarms.count))
        return text
    }
}
#endif
