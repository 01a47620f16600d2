import Access
import Enclave
import Foundation
import Keybag
import Keychain
import KeychainModel
import ProcessVault
import Synchronization
import TestSupport
import Vault
import VaultInterface

/// A vault in memory for one test, with what a test needs to turn: the lock, the passcode and the
/// answer of the person who is asked.
final class KeychainUnderTest: VaultSessionProvider {
    let keys: ClassKeys
    let vault: EmbeddedVault
    let person = Person()
    let client: Client

    init(
        client: Client = .app, asksPerson: Bool = true, now: @escaping @Sendable () -> Date = tickingClock()
    ) throws {
        let enclave = try SoftwareEnclave()
        keys = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
        vault = try EmbeddedVault.inMemory(
            keys: keys,
            surroundings: VaultSurroundings(authenticator: asksPerson ? person : nil, now: now))
        self.client = client
    }

    var session: VaultSession { VaultSession(vault: vault, client: client) }

    /// Runs `body` with this vault in the place of the process's.
    static func run(
        client: Client = .app, asksPerson: Bool = true, _ body: (KeychainUnderTest) throws -> Void
    ) throws {
        let test = try KeychainUnderTest(client: client, asksPerson: asksPerson)
        try VaultSession.$override.withValue(test) { try body(test) }
    }

    /// Runs `body` with this vault in the place of the process's.
    static func runAsync(
        client: Client = .app, asksPerson: Bool = true, isolation: isolated (any Actor)? = #isolation,
        _ body: (KeychainUnderTest) async throws -> Void
    ) async throws {
        let test = try KeychainUnderTest(client: client, asksPerson: asksPerson)
        try await VaultSession.$override.withValue(test) { try await body(test) }
    }
}

/// Somebody at the machine, who says what the test has told them to.
final class Person: Authenticator {
    private struct State {
        var answer = AuthenticationOutcome.succeeded([.passcode, .biometry])
        var prompts: [String?] = []
    }

    private let state = Mutex(State())

    /// What the prompts said so far.
    var prompts: [String?] { state.withLock { $0.prompts } }

    func willAnswer(_ answer: AuthenticationOutcome) {
        state.withLock { $0.answer = answer }
    }

    func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
        state.withLock { state in
            state.prompts.append(request.prompt)
            return state.answer
        }
    }

    func availability(verifier: any PasscodeVerifier) -> PresenceAvailability { .everything }
}

extension PresenceAvailability {
    /// A device with an enrolled finger and a passcode.
    static let everything = PresenceAvailability(
        biometryKind: .fingerprint, biometryFailure: nil, biometryState: nil, isPasscodeSet: true,
        passcodeFailure: nil)
}

/// The error that `body` throws; nil if it throws none.
func failure(_ body: () throws -> Void) -> KeychainError? {
    do {
        try body()
        return nil
    } catch {
        return error as? KeychainError
    }
}

/// The code of the keychain error that `body` throws; nil if it throws none.
func code(_ body: () throws -> Void) -> KeychainError.Code? {
    failure(body)?.code
}
