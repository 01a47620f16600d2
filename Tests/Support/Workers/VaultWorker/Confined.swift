import Foundation
import Glibc
import KeychainModel
import TestSupport
import Vault
import VaultInterface

/// Jobs under limits that hold for a whole process.
extension VaultWorker {
    /// Adds items until that fails; prints `added ACCOUNT` after each and `failed KIND` at the end.
    static func fill(_ path: String) throws {
        let vault = try EmbeddedVault.open(at: path)
        var number = 0
        while true {
            var item = NewItem.password("fill", "\(number)", "")
            item.value = Data(repeating: UInt8(truncatingIfNeeded: number), count: 30_000)
            do {
                _ = try vault.add(item, as: .app)
            } catch {
                report("failed \(kind(of: error))")
                // What fits can be read in the same process, by a vault that failed to write.
                let held = try vault.items(.password("fill", limit: nil))
                return report("held \(held.count)")
            }
            report("added \(number)")
            number += 1
        }
    }

    /// The same, with no file allowed to grow beyond `bytes`.
    static func fillLimited(_ path: String, bytes: UInt64) throws {
        limitFiles(to: bytes)
        try fill(path)
    }

    private static func limitFiles(to bytes: UInt64) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }

    /// Opens the vault where there may be no room left, and counts what `fill` left.
    static func reopen(_ path: String) throws {
        let vault = try EmbeddedVault.open(at: path)
        report("reopened \(try vault.items(.password("fill", limit: nil)).count)")
    }

    /// The same, with no file allowed to grow beyond `bytes`.
    static func reopenLimited(_ path: String, bytes: UInt64) throws {
        limitFiles(to: bytes)
        try reopen(path)
    }

    static func create(_ path: String, umask mask: UInt32) throws {
        umask(mask)
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        // The files beside the store exist while it is open.
        waitForCue()
        _ = try vault.copy(.password("s", "a"), includingValues: true, as: .app)
    }

    /// Opens and writes as another user; prints `opened` and how the write ended, or `refused KIND` and
    /// why.
    static func open(_ path: String, as user: UInt32) throws {
        if geteuid() != user {
            guard setgid(user) == 0, setuid(user) == 0 else { exit(77) }
        }
        do {
            let vault = try EmbeddedVault.open(at: path)
            report("opened")
            _ = try vault.add(.password("s", "another", "value"), as: .app)
            report("written")
        } catch {
            report("refused \(kind(of: error)) \(error)")
        }
    }

    static func kind(of error: VaultError) -> String {
        switch error {
        case .diskFull: "diskFull"
        case .inputOutput: "inputOutput"
        case .readOnly: "readOnly"
        case .unusableVault: "unusableVault"
        default: "other \(error)"
        }
    }
}
