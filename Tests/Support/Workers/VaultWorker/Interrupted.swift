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

    /// Carries out a script in each of several threads without end. Prints one character for each thread after its
    /// first step.
    static func write(_ path: String, seed: UInt64, threads: Int) throws {
        let vault = try EmbeddedVault.open(at: path)
        for number in 0..<threads {
            Thread.detachNewThread {
                var script = WriteScript(seed: seed &+ UInt64(number))
                var isFirst = true
                do {
                    while true {
                        try script.perform(script.next(), on: vault)
                        if isFirst { emit(".") }
                        isFirst = false
                    }
                } catch {
                    report("error \(error)")
                    exit(1)
                }
            }
        }
        while true { sleep(1_000) }
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

    /// Renews the class keys again and again. Says after each time that it did.
    static func renew(_ path: String) throws {
        let vault = try EmbeddedVault.open(at: path)
        report("ready")
        while true {
            _ = try vault.perform(RenewKeys(passcode: nil), as: .owner) { _ in }
            report("renewed")
        }
    }
}
