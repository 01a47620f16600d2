import Access
import Bytes
import Enclave
import Foundation
import Keybag
import KeychainModel
import Synchronization
import SystemLibraries
import TestSupport
import Testing
import Vault
import VaultInterface

/// Wrong passcodes and the waits they cost.
@Suite struct PasscodeAttemptTests {
    /// A machine whose time and starts the test decides about.
    private final class Machine: Sendable {
        private let state = Mutex((boot: UUID(), uptime: 1000.0))
        var clock: BootClock {
            BootClock(
                bootIdentifier: { self.state.withLock { $0.boot } }, uptime: { self.state.withLock { $0.uptime } })
        }
        func wait(_ seconds: Double) { state.withLock { $0.uptime += seconds } }
        func restart(uptime: Double) { state.withLock { $0 = (UUID(), uptime) } }
    }

    private let folder: TemporaryFolder
    private let path: String
    private let machine = Machine()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
    }

    private func open(asking authenticator: (any Authenticator)? = nil) throws -> EmbeddedVault {
        try EmbeddedVault.open(
            at: path, surroundings: VaultSurroundings(authenticator: authenticator, bootClock: machine.clock))
    }

    private func makeVault(eraseAfter: Int? = nil) throws {
        let options = PasscodeOptions(cost: PasscodeOptions.cheapest.cost, eraseAfter: eraseAfter)
        try open().setPasscode(.test("right"), options: options, as: .owner)
        _ = try withUnlocked { try $0.add(.password("s", "a", "value"), as: .app) }
    }

    private func withUnlocked<Result>(_ body: (EmbeddedVault) throws -> Result) throws -> Result {
        let vault = try open()
        try vault.unlock(with: .test("right"), as: .app)
        return try body(vault)
    }

    /// The waits of Apple's platform security guide, each try by a program of its own.
    @Test func waitsGrow() throws {
        try makeVault()
        for wait in [0, 0, 0, 60, 300, 900, 3600, 3 * 3600, 8 * 3600, 8 * 3600] {
            #expect(throws: VaultError.wrongPasscode(retryAfter: wait)) {
                try open().unlock(with: .test("wrong"), as: .app)
            }
            guard wait > 0 else { continue }
            machine.wait(Double(wait) - 1)
            #expect(throws: VaultError.passcodeDelayed(retryAfter: 1)) {
                try open().unlock(with: .test("right"), as: .app)
            }
            machine.wait(1)
        }
        let status = try open().status(as: .owner)
        #expect(status.failedAttempts == 10 && status.retryAfter == 0)
        #expect(try withUnlocked { try $0.status(as: .owner).failedAttempts } == 0)
    }

    /// No restart shortens a wait.
    @Test func restartsBeginTheWaitAnew() throws {
        try makeVault()
        for _ in 0..<4 { #expect(throws: VaultError.self) { try open().unlock(with: .test("wrong"), as: .app) } }
        machine.wait(59)
        for uptime in [5.0, 100_000, 0] {
            machine.restart(uptime: uptime)
            #expect(throws: VaultError.passcodeDelayed(retryAfter: 60)) {
                try open().unlock(with: .test("right"), as: .app)
            }
            machine.wait(30)
            #expect(throws: VaultError.passcodeDelayed(retryAfter: 30)) {
                try open().unlock(with: .test("right"), as: .app)
            }
        }
        machine.wait(30)
        #expect(try withUnlocked(\.lockState) == .unlocked)
    }

    /// Whoever removes or changes the record has to wait, and not less.
    @Test(arguments: [nil, Data(), Data("SKTRIES".utf8), Data(count: PasscodeAttempts.encodedSize), Data(count: 5000)])
    func aLostRecordMakesWait(_ contents: Data?) throws {
        try makeVault()
        let file = path + "/attempts"
        try FileManager.default.removeItem(atPath: file)
        if let contents {
            _ = FileManager.default.createFile(atPath: file, contents: contents, attributes: [.posixPermissions: 0o600])
        }
        #expect(throws: VaultError.passcodeDelayed(retryAfter: 60)) {
            try open().unlock(with: .test("right"), as: .app)
        }
        machine.wait(60)
        #expect(try withUnlocked(\.lockState) == .unlocked)
    }

    @Test func everyByteOfTheRecordCounts() throws {
        let enclave = try SoftwareEnclave()
        var attempts = PasscodeAttempts()
        for _ in 0..<5 { attempts.countFailure(now: machine.clock) }
        let salt = Data(repeating: 7, count: 32)
        let encoded = try attempts.encoded(in: enclave)
        #expect(try PasscodeAttempts(decoding: encoded, in: enclave, salt: salt) == attempts)
        #expect(encoded.count == PasscodeAttempts.encodedSize)
        for index in encoded.indices {
            for bit in 0..<8 {
                var changed = encoded
                changed[index] ^= 1 << bit
                #expect(try PasscodeAttempts(decoding: changed, in: enclave, salt: salt) == nil)
            }
        }
        for count in 0..<encoded.count {
            #expect(try PasscodeAttempts(decoding: encoded.prefix(count), in: enclave, salt: salt) == nil)
        }
        #expect(try PasscodeAttempts(decoding: encoded, in: SoftwareEnclave(), salt: salt) == nil)
        // A renewal of the class keys changes the salt.
        #expect(try PasscodeAttempts(decoding: encoded, in: enclave, salt: Data(count: 32)) == attempts)
    }

    @Test func tooManyEraseWhereThatWasChosen() throws {
        try makeVault(eraseAfter: 3)
        for _ in 0..<2 {
            #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) {
                try open().unlock(with: .test("wrong"), as: .app)
            }
        }
        #expect(try withUnlocked { try $0.items(.password("s", limit: nil)).count } == 1)
        for _ in 0..<2 { #expect(throws: VaultError.self) { try open().unlock(with: .test("wrong"), as: .app) } }
        #expect(throws: VaultError.erasedAfterWrongPasscodes) { try open().unlock(with: .test("wrong"), as: .app) }
        let left = try open()
        #expect(try left.items(.password("s", limit: nil)).isEmpty)
        #expect(try !left.status(as: .owner).isPasscodeSet)
        _ = try left.add(.password("s", "a", "new"), as: .app)
    }

    /// Who may not erase must not be able to by answering a question with wrong passcodes.
    @Test func onlyWhoMayEraseErasesByAnswering() throws {
        try makeVault(eraseAfter: 3)
        let vault = try open(asking: Guesser())
        for _ in 0..<6 {
            machine.wait(86_400)
            #expect(throws: VaultError.authenticationFailed) {
                _ = try vault.authenticate(.devicePasscode, context: UUID(), options: .init(), as: .app)
            }
        }
        #expect(try vault.status(as: .owner).failedAttempts == 6)
        machine.wait(86_400)
        #expect(throws: VaultError.authenticationFailed) {
            _ = try vault.authenticate(.devicePasscode, context: UUID(), options: .init(), as: .owner)
        }
        #expect(try !vault.status(as: .owner).isPasscodeSet)
    }

    private struct Guesser: Authenticator {
        func evaluate(
            _ request: AuthenticationRequest, verifier: any PasscodeVerifier
        ) -> AuthenticationOutcome {
            guard let guess = try? SecretBytes.test("guess"), verifier.verify(guess) == .correct else {
                return .failed(.authenticationFailed)
            }
            return .succeeded(.passcode)
        }

        func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
            PresenceAvailability(
                biometryKind: .none, biometryFailure: .biometryNotAvailable, biometryState: nil, isPasscodeSet: true,
                passcodeFailure: nil)
        }
    }

    /// A record that cannot be written must not make tries free.
    @Test func noCountNoTry() throws {
        try makeVault()
        let vault = try open()
        try #require(geteuid() == 0 || chmod(path, 0o500) == 0)
        if geteuid() == 0 {
            // Root may write anywhere but onto a folder.
            try FileManager.default.removeItem(atPath: path + "/attempts")
            try FileManager.default.createDirectory(atPath: path + "/attempts", withIntermediateDirectories: false)
        }
        defer { chmod(path, 0o700) }
        #expect(throws: VaultError.self) { try vault.unlock(with: .test("right"), as: .app) }
        #expect(vault.lockState == .beforeFirstUnlock)
    }
}
