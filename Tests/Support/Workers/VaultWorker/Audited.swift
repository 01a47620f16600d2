import Access
import Audit
import Bytes
import Foundation
import Glibc
import TestSupport
import Vault
import VaultInterface

/// Jobs on a vault with an audit log.
extension VaultWorker {
    /// Reads an item again and again; prints `.` after each read that has returned.
    static func audit(_ path: String, count: Int) throws {
        var limits = AuditLimits()
        limits.patience = Patience.duration
        let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog(limits: limits)))
        waitForCue()
        for _ in 0..<count {
            _ = try vault.copy(.password("s", "a"), includingValues: true, as: .app)
            emit(".")
        }
    }

    /// Changes an item, and asks for what is refused, again and again, with the log of a daemon; prints `.` after each
    /// change that has returned.
    static func auditDaemon(_ path: String, round: UInt64) throws {
        var limits = AuditLimits()
        limits.patience = Patience.duration
        let vault = try EmbeddedVault.open(
            at: path, surroundings: VaultSurroundings(audit: BufferedAudit(limits: limits)))
        let nobody = Client(identifier: "nobody \(round)", accessGroups: [])
        waitForCue()
        while true {
            _ = try? vault.copy(.password("s", "a"), includingValues: true, as: nobody)
            _ = try vault.put(.password("s", "a", "value"), as: .app)
            emit(".")
        }
    }

    /// Unlocks and changes an item, again and again; prints `.` after each change that has returned.
    ///
    /// - Parameter pause: The number of changes after an unlocking, before the next one.
    static func auditUnlocks(_ path: String, count: Int, pause: Int) throws {
        var limits = AuditLimits()
        limits.patience = Patience.duration
        let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog(limits: limits)))
        waitForCue()
        for number in 0..<count {
            if number.isMultiple(of: pause) { try vault.unlock(with: SecretBytes("right"), as: .owner) }
            _ = try vault.put(.password("s", "a", "value"), as: .app)
            emit(".")
        }
    }

    /// Reads with no room for the log to grow beyond `bytes`; prints `read N` and `missed N`.
    static func auditLimited(_ path: String, bytes: UInt64) throws {
        let log = AuditLog()
        let vault = try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: log))
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: unlimited)
        setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_FSIZE.rawValue), &limit)
        for _ in 0..<50 { _ = try vault.copy(.password("s", "a"), includingValues: true, as: .app) }
        report("missed \(log.missedEvents)")
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_FSIZE.rawValue), &limit)
        _ = try vault.copy(.password("s", "a"), includingValues: true, as: .app)
        report("missed \(log.missedEvents)")
    }
}

private let unlimited = rlim_t.max
