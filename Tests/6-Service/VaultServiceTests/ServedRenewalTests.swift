import Access
import Bytes
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// New class keys for a vault that a daemon serves.
@Suite struct ServedRenewalTests {
    private final class Stop: Sendable { let isDone = Atomic(false) }

    @Test func clientsGoOnMeanwhile() async throws {
        let server = try ServerUnderTest(ServerUnderTest.patient)
        let vault = try server.connect()
        try vault.setPasscode(SecretBytes("first"), options: .cheapest, as: vault.granted)
        for number in 0..<600 { _ = try vault.add(.password("many", "\(number)", "value"), as: vault.granted) }
        let stop = Stop()
        let scripts = try await withThrowingTaskGroup(of: WriteScript.self) { group in
            for seed in 0..<3 {
                let own = try server.connect()
                group.addTask {
                    var script = WriteScript(seed: UInt64(clamping: seed))
                    while !stop.isDone.load(ordering: .relaxed) {
                        try script.perform(script.next(), on: own, as: own.granted)
                    }
                    return script
                }
            }
            // Also after a failure, or the writers would never end.
            defer { stop.isDone.store(true, ordering: .relaxed) }
            for (present, next) in [("first", nil), ("first", "second"), ("second", "third")] {
                var last = RenewalProgress(done: 0, all: 0)
                let operation = RenewKeys(
                    passcode: try SecretBytes(present), next: try next.map { try SecretBytes($0) }, options: .cheapest)
                let summary = try vault.perform(operation, as: vault.granted) { last = $0 }
                #expect(summary.items >= 600 && last.done >= 600)
            }
            stop.isDone.store(true, ordering: .relaxed)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for script in scripts { #expect(try script.stored(in: vault, as: vault.granted) == script.items) }
        #expect(try vault.items(.password("many", limit: nil), as: vault.granted).count == 600)
        #expect(try vault.verify(as: vault.granted).problems.isEmpty)
        try vault.lock(after: .zero, as: vault.granted)
        #expect(throws: VaultError.self) { try vault.unlock(with: SecretBytes("second"), as: vault.granted) }
        try vault.unlock(with: SecretBytes("third"), as: vault.granted)
    }

    @Test func onlyWhoLooksAfterTheVaultMay() throws {
        let server = try ServerUnderTest(ServerUnderTest.patient, rules: [.ownProgram(["TEAM.app"])])
        let vault = try server.connect()
        let error = #expect(throws: VaultError.self) { try vault.renewKeys(as: vault.granted) }
        guard case .accessDenied = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try server.vault.status(as: .owner).lockState == .unlocked)
    }

    /// A client that goes away in the middle leaves the vault as it was, or, if it goes too late, with new keys.
    @Test func aClientThatLeavesLosesNothing() throws {
        let server = try ServerUnderTest(ServerUnderTest.patient)
        let vault = try server.connect()
        for number in 0..<700 { _ = try vault.add(.password("many", "\(number)", "value"), as: vault.granted) }
        let leaving = try server.connect()
        #expect(throws: VaultError.busy) {
            try leaving.perform(RenewKeys(passcode: nil), as: leaving.granted) { _ throws(VaultError) in
                throw VaultError.busy
            }
        }
        let folder = server.folder.path(of: "vault")
        try eventually("the renewal has ended") {
            try !FolderContents(of: folder).entries.keys.contains("renewal")
                && (try? ItemStoreFile.name(inVault: folder)) != nil
        }
        #expect(try vault.items(.password("many", limit: nil), as: vault.granted).count == 700)
        try vault.renewKeys(as: vault.granted)
    }
}
