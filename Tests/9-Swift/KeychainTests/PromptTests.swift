import Foundation
import Keychain
import Presence
import ProcessVault
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// A program that asks for the passcode itself.
@Suite struct PromptTests {
    private struct Folder: VaultSessionProvider {
        let session: VaultSession
    }

    @Test func theProgramIsAskedAndAskedAgain() async throws {
        let folder = try TemporaryFolder()
        let answers = Mutex(["herring", "swordfish"])
        let asked = Mutex<[KeychainPrompt.Question]>([])
        // Not `use`, which would have other tests in this process ask here.
        let prompt = KeychainPrompt.prompt { question in
            asked.withLock { $0.append(question) }
            let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return answer.flatMap { try? KeychainPasscode($0) }
        }
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"),
            surroundings: VaultSurroundings(authenticator: PersonAuthenticator(prompt: prompt)))
        try await VaultSession.$override.withValue(Folder(session: VaultSession(vault: vault, client: .app))) {
            try await KeychainLock.setPasscode(
                KeychainPasscode("swordfish"), options: .init(cost: .init(memoryKiB: 1_024, passes: 1)))
            let bank = Keychain(
                service: "bank", accessControl: .devicePasscode, interaction: .allowed(prompt: "pay the rent"))
            try await bank.set("4711", for: "alice")
            #expect(asked.withLock { $0.isEmpty })
            #expect(try await bank.get(String.self, for: "alice") == "4711")
            #expect(asked.withLock { $0.map { $0.complaint == nil } } == [true, false])
            #expect(asked.withLock { $0.allSatisfy { $0.reason.contains("pay the rent") } })
            // No answer is the person's refusal.
            await #expect(throws: KeychainError.Code.userCanceled.error) {
                try await bank.get(String.self, for: "alice")
            }
        }
        vault.close()
    }
}

extension KeychainError.Code {
    fileprivate var error: KeychainError { KeychainError(self, status: 0, message: "") }
}
