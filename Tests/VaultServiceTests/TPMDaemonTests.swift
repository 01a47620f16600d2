import Access
import Foundation
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface
import VaultService

/// A daemon whose vault hangs on a TPM.
@Suite struct TPMDaemonTests {
    // By the user: a confined daemon does not see which program calls.
    private let owner =
        #"{"uid": \#(geteuid()), "groups": ["TEAM.app", "*"], "rights": ["list", "unlock", "administer"]}"#

    private func unlock(_ vault: RemoteVault) throws {
        try vault.unlock(with: SecretBytes("right"), as: vault.granted)
    }

    @Test(arguments: [[], ["--landlock"]])
    func servesManyClientsOverRestartsOfEither(_ options: [String]) throws {
        let tpm = try SoftwareTPM()
        let daemon = try DaemonUnderTest(options, rules: [owner], in: tpm)
        let vault = try daemon.connect()
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: vault.granted)
        for round in 0..<3 {
            let done = Mutex(0)
            let clients = try (0..<8).map { client in
                let vault = try daemon.connect()
                let thread = Thread {
                    for number in 0..<10 {
                        let item = NewItem.password("s", "\(round)-\(client)-\(number)", "v")
                        guard (try? vault.add(item, as: vault.granted)) != nil,
                            (try? vault.status(as: vault.granted))?.enclave == "tpm2",
                            // One at a time: tries under way count as wrong ones.
                            client > 0 || (try? unlock(vault)) != nil
                        else { return }
                        done.withLock { $0 += 1 }
                    }
                }
                thread.start()
                return thread
            }
            withDeadline(60, "the clients do not end") {
                while clients.contains(where: { !$0.isFinished }) { usleep(1_000) }
            }
            #expect(done.withLock { $0 } == 80)
            if round == 0 { try tpm.restart() } else { #expect(daemon.stop() == 0) }
            if round == 1 { try tpm.restart() }
            if round > 0 { try daemon.start() }
            try unlock(daemon.connect())
        }
        // Stopped in good order before each restart but the first, which cost a try.
        #expect(daemon.stop() == 0)
        #expect(try tpm.loadedHandles().isEmpty)
        #expect(try tpm.tool("tpm2_getcap", "properties-variable").contains("LOCKOUT_COUNTER: 0x1"))
    }
}
