import Foundation
import TestSupport
import Vault
import VaultInterface

/// Jobs that the test kills at a random moment.
extension VaultWorker {
    /// Carries out a script without end; prints one character after each step that has returned.
    static func write(_ path: String, seed: UInt64) throws {
        let vault = try EmbeddedVault.open(at: path)
        var script = WriteScript(seed: seed)
        while true {
            try script.perform(script.next(), on: vault)
            emit(".")
        }
    }

    /// Makes a vault and stores an item in it.
    static func create(_ path: String) throws {
        report("ready")
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("created", "a", "value"), as: .app)
        report("stored")
    }

    static func erase(_ path: String) throws {
        let vault = try EmbeddedVault.open(at: path)
        report("ready")
        try vault.erase(as: .owner)
        report("erased")
    }
}
