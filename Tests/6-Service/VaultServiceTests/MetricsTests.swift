import Foundation
import TestSupport
import Testing
import VaultInterface
import VaultService

/// What the daemon writes for a collector of metrics.
@Suite struct MetricsTests {
    @Test func requestsAreCountedByOperationAndOutcome() throws {
        let place = try TemporaryFolder()
        let file = place.path(of: "keychain.prom")
        let daemon = try DaemonUnderTest(["--metrics", file])
        let vault = try daemon.connect()
        _ = try vault.add(.password("mail", "ada", "x"), as: vault.granted)
        #expect(throws: VaultError.duplicateItem) {
            try vault.add(.password("mail", "ada", "x"), as: vault.granted)
        }
        _ = try vault.copy(.password("mail", "ada"), includingValues: true, as: vault.granted)
        #expect(daemon.stop() == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("# TYPE keychain_requests_total counter"))
        #expect(lines.contains(#"keychain_requests_total{operation="add",outcome="ok"} 1.0"#))
        #expect(lines.contains(#"keychain_requests_total{operation="add",outcome="duplicate"} 1.0"#))
        #expect(lines.contains(#"keychain_requests_total{operation="copy",outcome="ok"} 1.0"#))
        #expect(lines.contains("# TYPE keychain_request_duration_seconds summary"))
        #expect(lines.contains(#"keychain_request_duration_seconds_count{operation="add"} 2"#))
        #expect(lines.contains("# TYPE keychain_connections gauge"))
        #expect(lines.contains("# HELP keychain_requests_total Requests by operation and outcome."))
        #expect(lines.contains(#"keychain_lock_state{state="unlocked"} 1.0"#))
        #expect(lines.contains(#"keychain_lock_state{state="locked"} 0.0"#))
        #expect(lines.contains("keychain_wrong_passcodes 0.0"))
        #expect(lines.contains { $0.hasPrefix("keychain_entitlements_rules ") })
        #expect(lines.contains("keychain_entitlements_rejected 0.0"))
        #expect(lines.contains("keychain_device_secret_lost 0.0"))
        // Each metric has its line of help.
        let typed = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        for name in typed { #expect(lines.contains { $0.hasPrefix("# HELP \(name) ") }, "\(name)") }
        let text = lines.joined(separator: "\n")
        for word in ["mail", " ada", "TEAM", "/"] { #expect(!text.contains(word), "\(word)") }
    }

    @Test func aLostDeviceSecretIsAMetric() throws {
        let place = try TemporaryFolder()
        let file = place.path(of: "keychain.prom")
        let daemon = try DaemonUnderTest(["--metrics", file])
        try eventually("the daemon writes its metrics") { FileManager.default.fileExists(atPath: file) }
        try FileManager.default.removeItem(atPath: daemon.home + "/device-secret")
        #expect(daemon.stop() == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\nkeychain_device_secret_lost 1.0\n"))
    }
}
