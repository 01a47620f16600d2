import Access
import Foundation
import Frames
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface
import VaultService

/// The daemon comes and goes; what it acknowledged stays.
@Suite struct RestartTests {
    @Test func killingItLosesNothingThatWasAcknowledged() throws {
        let daemon = try DaemonUnderTest()
        let vault = try daemon.connect()
        let acknowledged = Mutex<Set<String>>([])
        for round in 0..<TestScale.count(3, soak: 20) {
            let writers = (0..<4).map { writer in
                let thread = Thread {
                    for number in 0... {
                        let account = "\(round)-\(writer)-\(number)"
                        guard
                            (try? vault.add(.password("kill", account, account), as: vault.granted)) != nil
                        else { return }
                        acknowledged.withLock { _ = $0.insert(account) }
                    }
                }
                thread.start()
                return thread
            }
            let before = acknowledged.withLock { $0.count }
            try eventually("something is written") { acknowledged.withLock { $0.count } >= before + 20 }
            daemon.kill()
            // A write whose answer was lost is reported; the others went to the next daemon or failed.
            try daemon.start()
            daemon.kill()
            try eventually("the writers end") { writers.allSatisfy(\.isFinished) }
            try daemon.start()
        }
        // The same client finds the daemon that runs now.
        var query = ItemQuery(itemClass: .genericPassword, attributes: [.service: .string("kill")])
        query.accessGroup = "TEAM.app"
        let found = try vault.copy(query, includingValues: true, as: vault.granted)
        let accounts = Set(
            found.compactMap { item -> String? in
                guard case .string(let account) = item.attributes[.account], item.value == Data(account.utf8) else {
                    return nil
                }
                return account
            })
        #expect(acknowledged.withLock { $0 }.isSubset(of: accounts))
    }

    @Test func clientsFindTheNextDaemon() throws {
        let daemon = try DaemonUnderTest()
        let vault = try daemon.connect()
        _ = try vault.add(.password("mail", "ada", "x"), as: vault.granted)
        for _ in 0..<3 {
            daemon.kill()
            try daemon.start()
            #expect(try vault.items(.password("mail", "ada"), as: vault.granted).count == 1)
            _ = try vault.put(.password("mail", "ada", "y"), as: vault.granted)
        }
    }

    @Test func itEndsWhenItIsToldTo() throws {
        let daemon = try DaemonUnderTest()
        let vault = try daemon.connect()
        _ = try vault.add(.password("mail", "ada", "x"), as: vault.granted)
        let resting = try daemon.greeted()
        #expect(daemon.stop() == 0)
        #expect(access(daemon.socket, F_OK) != 0)
        #expect(!resting.isQuiet)
    }

    @Test func aSecondDaemonDoesNotTakeTheSocket() throws {
        let daemon = try DaemonUnderTest()
        let second = try Worker(
            ["--socket", daemon.socket, "--home", daemon.folder.path(of: "other"), "--entitlements", "/nonexistent"],
            command: Worker.daemon)
        #expect(second.wait() == 1)
        _ = try daemon.connect()
    }

    @Test func aMistakeInTheEntitlementsKeepsItFromStarting() throws {
        let daemon = try DaemonUnderTest()
        daemon.kill()
        try Data("{}".utf8).write(to: URL(fileURLWithPath: daemon.folder.path(of: "entitlements.json")))
        let failed = try Worker(
            [
                "--socket", daemon.socket, "--home", daemon.home, "--entitlements",
                daemon.folder.path(of: "entitlements.json"),
            ],
            command: Worker.daemon)
        #expect(failed.wait() == 1)
    }
}
