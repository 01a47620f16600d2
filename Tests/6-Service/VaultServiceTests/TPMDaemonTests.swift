import Access
import Attestation
import Bytes
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
            try eventually("the clients end") { clients.allSatisfy(\.isFinished) }
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

    @Test(arguments: [[], ["--landlock"]])
    func provesWhereAKeyIs(_ options: [String]) throws {
        let tpm = try SoftwareTPM()
        let daemon = try DaemonUnderTest(options, rules: [owner], in: tpm)
        let vault = try daemon.connect()
        let key = try vault.makeEnclaveKey(
            .p256, accessControl: AccessControl(protection: .whenUnlockedThisDeviceOnly), options: .init(),
            as: vault.granted)
        let postQuantum = try vault.makeEnclaveKey(
            .mldsa65, accessControl: AccessControl(protection: .whenUnlockedThisDeviceOnly), options: .init(),
            as: vault.granted)
        func attest(_ key: EnclaveKeyRecord, _ nonce: Data) throws -> AttestedKey {
            let encoded = try vault.useEnclaveKey(key, for: .attest(nonce: nonce), options: .init(), as: vault.granted)
            return try KeyAttestation(decoding: encoded).verified(nonce: nonce)
        }
        #expect(try attest(key, Data(1...16)).publicKey == key.publicKey)
        for count in [0, 7, 33, 4096] {
            let error = #expect(throws: VaultError.self) { try attest(key, Data(count: count)) }
            #expect(error?.description.contains("give 8 to 32") == true)
        }
        // The TPM keeps the seed of such a key and did not make it.
        #expect(throws: VaultError.unsupported(reason: "the enclave's key is not made for this use")) {
            try attest(postQuantum, Data(1...16))
        }
        var other = key
        other.publicKey[1] ^= 1
        #expect(throws: VaultError.self) { try attest(other, Data(1...16)) }

        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: vault.granted)
        try vault.lock(after: .zero, as: vault.granted)
        let error = #expect(throws: VaultError.self) { try attest(key, Data(1...16)) }
        guard case .interactionNotAllowed = error else { throw error ?? VaultError.busy }
        try unlock(vault)
        #expect(try attest(key, Data(2...17)).publicKey == key.publicKey)
        #expect(daemon.stop() == 0)
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func aSoftwareVaultProvesNothing() throws {
        let daemon = try DaemonUnderTest(rules: [owner])
        let vault = try daemon.connect()
        let key = try vault.makeEnclaveKey(
            .p256, accessControl: AccessControl(protection: .whenUnlockedThisDeviceOnly), options: .init(),
            as: vault.granted)
        let error = #expect(throws: VaultError.self) {
            try vault.useEnclaveKey(key, for: .attest(nonce: Data(1...16)), options: .init(), as: vault.granted)
        }
        guard case .unsupported(let reason) = error else { throw error ?? VaultError.busy }
        #expect(reason.contains("keychain init --enclave tpm2"))
    }
}
