import Access
import Bytes
import Foundation
import KeychainModel
import LocalAuthenticationServices
import ProcessVault
import Synchronization
import TestSupport
import Testing
import VaultInterface
import VaultService

/// Rights in a daemon's vault, with the person in front of the program.
@Suite struct RightServiceTests {
    private static let rule =
        #"{"executable": "\#(DaemonUnderTest.ownExecutable)", "groups": ["TEAM.app", "*"], "#
        + #""rights": ["list", "unlock", "administer"]}"#

    /// Gives each question the same answer.
    private final class Person: PasscodePrompt {
        private let answer: @Sendable () -> PasscodeAnswer
        let isAvailable: Bool
        let questions = Collected<PasscodeQuestion>()

        init(isAvailable: Bool = true, _ answer: @escaping @Sendable () -> PasscodeAnswer) {
            self.isAvailable = isAvailable
            self.answer = answer
        }

        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
            questions.append(question)
            return answer()
        }
    }

    private struct Program: VaultSessionProvider {
        let session: VaultSession

        init(of daemon: DaemonUnderTest, asking person: Person) throws {
            let vault = try RemoteVault(socket: daemon.socket, prompt: person)
            session = VaultSession(vault: vault, client: vault.granted)
        }
    }

    private let store = LARightStore.shared
    private let message = Data("message".utf8)
    private let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256

    /// A daemon with a passcode, which is `right`.
    private func daemon() throws -> DaemonUnderTest {
        let daemon = try DaemonUnderTest(rules: [Self.rule])
        let vault = try daemon.connect()
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: vault.granted)
        return daemon
    }

    @Test func aPersistedRightSurvivesARestartOfTheDaemon() async throws {
        let daemon = try daemon()
        let passcode = try SecretBytes("right")
        let observed = Mutex<(right: LARight?, states: [LARight.State])>((nil, []))
        let person = Person {
            observed.withLock { observed in
                if let right = observed.right { observed.states.append(right.state) }
            }
            return .passcode(passcode)
        }
        let publicKey = try await VaultSession.$override.withValue(Program(of: daemon, asking: person)) {
            let right = try await store.saveRight(LARight(), identifier: "server", secret: message)
            return try await right.key.publicKey.bytes
        }
        #expect(person.questions.all.isEmpty)
        #expect(daemon.stop() == 0)
        try daemon.start()

        try await VaultSession.$override.withValue(Program(of: daemon, asking: person)) {
            #expect(await failure { try await store.right(forIdentifier: "server") } == .notInteractive)
            let vault = try daemon.connect()
            try vault.unlock(with: passcode, as: vault.granted)
            let right = try await store.right(forIdentifier: "server")
            observed.withLock { $0.right = right }
            #expect(right.state == .unknown)
            #expect(try await right.key.publicKey.bytes == publicKey)
            #expect(await failure { try await right.key.sign(message, algorithm: algorithm) } == .notInteractive)
            try await right.authorize(localizedReason: "to sign in")
            #expect(observed.withLock { $0.states } == [.authorizing])
            #expect(right.state == .authorized)
            let signature = try await right.key.sign(message, algorithm: algorithm)
            try await right.key.publicKey.verify(message, signature: signature, algorithm: algorithm)
            #expect(try await right.secret.rawData == message)
            #expect(person.questions.all.count == 1)
            #expect(person.questions.all.first?.reason.contains("to sign in") == true)
            await right.deauthorize()
            #expect(await failure { try await right.secret.rawData } == .notInteractive)
            try await store.removeRight(right)
        }
        daemon.kill()
        try daemon.start()
        let vault = try daemon.connect()
        try vault.unlock(with: passcode, as: vault.granted)
        try await VaultSession.$override.withValue(Program(of: daemon, asking: person)) {
            #expect(await failure { try await store.right(forIdentifier: "server") } == .resourceNotFound)
        }
    }

    @Test func aWrongPersonIsRefused() async throws {
        let daemon = try daemon()
        let wrong = try SecretBytes("wrong")
        let person = Person { .passcode(wrong) }
        try await VaultSession.$override.withValue(Program(of: daemon, asking: person)) {
            let right = try await store.saveRight(LARight(), identifier: "server", secret: message)
            #expect(
                await failure { try await right.authorize(localizedReason: "to sign in") } == .authenticationFailed)
            #expect(right.state == .notAuthorized)
            #expect(!person.questions.all.isEmpty)
            #expect(await failure { try await right.key.sign(message, algorithm: algorithm) } == .notInteractive)
            #expect(await failure { try await right.secret.rawData } == .notInteractive)
        }
    }

    @Test(arguments: [true, false])
    func nothingIsGrantedWithoutAPerson(isThere: Bool) async throws {
        let daemon = try daemon()
        let person = Person(isAvailable: isThere) { .canceled }
        try await VaultSession.$override.withValue(Program(of: daemon, asking: person)) {
            let kept = try await store.saveRight(LARight(), identifier: "server")
            for right in [kept, LARight()] {
                let code = await failure { try await right.authorize(localizedReason: "to sign in") }
                #expect(code == (isThere ? .userCancel : .notInteractive))
                #expect(right.state == .notAuthorized)
            }
            #expect(await failure { try await kept.key.sign(message, algorithm: algorithm) } == .notInteractive)
            #expect(person.questions.all.count == (isThere ? 2 : 0))
        }
    }

    /// The code of the error that `body` throws; nil if it throws none, or another.
    private func failure<Value>(_ body: () async throws -> Value) async -> LAError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? LAError)?.code
        }
    }
}
