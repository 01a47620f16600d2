import Crypto
import Dispatch
import Foundation
import Keychain
import KeychainTesting
import Testing

@testable import Credentials

@Suite struct PasswordHasherTests {
    private let cheap = PasswordHasher(cost: .init(memoryKiB: 64, passes: 1))

    private func code(_ body: () throws -> Void) -> CredentialsError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CredentialsError)?.code
        }
    }

    @Test func errorsHaveTheFormOfTheOthers() {
        let error = CredentialsError(.busy, message: "too many sign-ins are waiting; try again")
        #expect((error as any Error).localizedDescription == error.message)
        #expect(error.recoverySuggestion == "try again")
        #expect("\(error)" == "too many sign-ins are waiting; try again (busy)")
        #expect(error == CredentialsError(.busy, message: "") && error != CredentialsError(.file, message: ""))
    }

    @Test func rightAndWrong() throws {
        let hash = try cheap.hash(SignInPassword("correct horse"))
        #expect(hash.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$"))
        #expect(try cheap.hash(SignInPassword("correct horse")) != hash)
        let right = try cheap.verify(SignInPassword("correct horse"), against: hash)
        #expect(right.isCorrect && right.newHash == nil)
        let wrong = try cheap.verify(SignInPassword("correct house"), against: hash)
        #expect(!wrong.isCorrect && wrong.newHash == nil)
        let nobody = try cheap.verify(SignInPassword("correct horse"), against: nil)
        #expect(!nobody.isCorrect && nobody.newHash == nil)
    }

    @Test(arguments: [
        "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$pbkdf2-sha256$i=1$c2FsdA$Za3/NeNFiUIZlyoi0ZBH5n7JBDJZkmkBsXyqxAzkUKM",
    ])
    func olderHashesAreUpgraded(_ older: String) throws {
        let password = try SignInPassword("U*U")
        let stored = older.hasPrefix("$2a$") ? older : try pbkdf2("U*U")
        #expect(cheap.needsRehash(stored))
        let answer = try cheap.verify(password, against: stored)
        let newHash = try #require(answer.newHash)
        #expect(answer.isCorrect && !cheap.needsRehash(newHash))
        #expect(try cheap.verify(password, against: newHash).isCorrect)
        let wrong = try cheap.verify(SignInPassword("U*V"), against: stored)
        #expect(!wrong.isCorrect && wrong.newHash == nil)
    }

    /// One iteration of PBKDF2 with one block is HMAC over the salt and the number one (RFC 8018, 5.2).
    private func pbkdf2(_ password: String) throws -> String {
        let block = HMAC<SHA256>.authenticationCode(
            for: Data("salt".utf8) + [0, 0, 0, 1], using: SymmetricKey(data: Data(password.utf8)))
        return "$pbkdf2-sha256$i=1$c2FsdA$" + Data(block).base64EncodedString().prefix { $0 != "=" }
    }

    @Test func mobileHashesAreUpgraded() throws {
        let salt = "x4vV8bGgqqmQwgCoyXFQj"
        let digest = SHA256.hash(data: Data("horse.ada@example.com.\(salt)".utf8))
        let stored = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        var hasher = cheap
        #expect(code { _ = try hasher.verify(SignInPassword("horse"), against: stored) } == .unknownHash)
        hasher.olderHashes = SaltedSHA256Hash(salt: salt)
        let answer = try hasher.verify(SignInPassword("horse"), against: stored, account: "ada@example.com")
        #expect(answer.isCorrect)
        let newHash = try #require(answer.newHash)
        #expect(try hasher.verify(SignInPassword("horse"), against: newHash).isCorrect)
        #expect(try !hasher.verify(SignInPassword("horse"), against: stored, account: "eve@example.com").isCorrect)
    }

    @Test func cheaperHashesAreUpgraded() throws {
        let hash = try cheap.hash(SignInPassword("horse"))
        let dearer = PasswordHasher(cost: .init(memoryKiB: 128, passes: 1))
        let answer = try dearer.verify(SignInPassword("horse"), against: hash)
        let newHash = try #require(answer.newHash)
        #expect(newHash.contains("m=128") && !cheap.needsRehash(newHash))
    }

    @Test(arguments: [StoredKeyProtection.keychain(.afterFirstUnlock), .enclave(.afterFirstUnlock)])
    func peppers(_ protection: StoredKeyProtection) throws {
        try withTestKeychain { _ in
            #expect(code { _ = try PasswordPepper(named: "first") } == .noPepper)
            let first = try PasswordPepper.make(named: "first", protection: protection)
            #expect(code { _ = try PasswordPepper.make(named: "first", protection: protection) } == .duplicatePepper)
            var hasher = PasswordHasher(cost: cheap.cost, pepper: first)
            let hash = try hasher.hash(SignInPassword("horse"))
            #expect(hash.contains(",keyid=\(first.id)$"))
            #expect(try hasher.verify(SignInPassword("horse"), against: hash).isCorrect)
            #expect(try !hasher.verify(SignInPassword("house"), against: hash).isCorrect)
            #expect(try !hasher.verify(SignInPassword("house"), against: nil).isCorrect)
            // Read again, it is the same; without it, nobody gets anywhere.
            hasher.pepper = try PasswordPepper(named: "first")
            #expect(try hasher.verify(SignInPassword("horse"), against: hash).isCorrect)
            #expect(code { _ = try cheap.verify(SignInPassword("horse"), against: hash) } == .unknownPepper)
            // One of the same name in another vault is another one, and says so.
            let stranger = PasswordPepper(key: SymmetricKey(size: .bits256))
            let elsewhere = PasswordHasher(cost: cheap.cost, pepper: stranger)
            #expect(code { _ = try elsewhere.verify(SignInPassword("horse"), against: hash) } == .unknownPepper)
            // Another follows.
            hasher = PasswordHasher(
                cost: cheap.cost, pepper: try PasswordPepper.make(named: "second", protection: protection),
                formerPeppers: [first])
            let newHash = try #require(try hasher.verify(SignInPassword("horse"), against: hash).newHash)
            #expect(!newHash.contains(first.id))
            #expect(try hasher.verify(SignInPassword("horse"), against: newHash).newHash == nil)
            // Hashes without one get one.
            let plain = try cheap.hash(SignInPassword("horse"))
            #expect(try hasher.verify(SignInPassword("horse"), against: plain).newHash != nil)
        }
    }

    @Test func whatCannotBe() throws {
        let long = try SignInPassword(String(repeating: "x", count: 4_097))
        #expect(code { _ = try cheap.hash(long) } == .passwordTooLong)
        #expect(code { _ = try cheap.verify(long, against: nil) } == .passwordTooLong)
        #expect(code { _ = try cheap.verify(SignInPassword("x"), against: "x") } == .unknownHash)
        for cost in [
            Argon2Cost(memoryKiB: 7, passes: 1), .init(memoryKiB: 64, passes: 0),
            .init(memoryKiB: 64, passes: 65),
        ] {
            let hasher = PasswordHasher(cost: cost)
            #expect(code { _ = try hasher.hash(SignInPassword("x")) } == .tooExpensive)
            #expect(code { _ = try hasher.verify(SignInPassword("x"), against: nil) } == .tooExpensive)
        }
    }

    @Test func nothingIsShown() throws {
        let password = try SignInPassword("tell nobody")
        var dumped = ""
        dump(password, to: &dumped)
        let answer = PasswordHasher.Verification(isCorrect: true, newHash: "$argon2id$tell")
        dump(answer, to: &dumped)
        #expect(!("\(answer)" + dumped).contains("tell"))
        #expect(!("\(password)" + String(reflecting: password) + dumped).contains("tell"))
        let token = SessionToken()
        dumped = ""
        dump(token, to: &dumped)
        #expect(!("\(token)" + String(reflecting: token) + dumped).contains(token.text))
    }

    @Test func inTheBackground() async throws {
        var hasher = cheap
        (hasher.threads, hasher.waitingLimit) = (BlockingThreads(limit: 2, idleTime: .seconds(1)), 64)
        let hash = try await hasher.hash(SignInPassword("horse"))
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask { [hasher] in
                    try await hasher.verify(SignInPassword(number % 2 == 0 ? "horse" : "house"), against: hash)
                        .isCorrect
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answers == 32)
        let canceled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await cheap.hash(SignInPassword("horse"))
        }
        await #expect(throws: CredentialsError.taskCanceled) { _ = try await canceled.value }
    }

    /// A flood of sign-ins is refused instead of queued.
    @Test(.timeLimit(.minutes(60))) func tooManyWait() async throws {
        var hasher = cheap
        #expect(hasher.waitingLimit >= 32)
        hasher.threads = BlockingThreads(limit: 1, idleTime: .seconds(10))
        hasher.waitingLimit = 2
        let release = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let first = Task { [hasher] in
            try await hasher.threads.run(orThrow: CredentialsError.taskCanceled) {
                begin.yield()
                release.wait()
            }
        }
        for await _ in begun { break }
        let waiting = (0..<2).map { _ in Task { [hasher] in try await hasher.hash(SignInPassword("horse")) } }
        while hasher.threads.waitingCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
        for _ in 0..<100 {
            await #expect(throws: CredentialsError(.busy, message: "")) {
                try await hasher.hash(SignInPassword("horse"))
            }
            await #expect(throws: CredentialsError(.busy, message: "")) {
                try await hasher.verify(SignInPassword("horse"), against: nil)
            }
        }
        #expect(hasher.threads.waitingCount == 2)
        // Whoever gives up makes room at once.
        waiting[0].cancel()
        await #expect(throws: CredentialsError.taskCanceled) { try await waiting[0].value }
        #expect(hasher.threads.waitingCount == 1)
        release.signal()
        try await first.value
        #expect(try await cheap.verify(SignInPassword("horse"), against: waiting[1].value).isCorrect)
    }

    /// The passes that fit into a time, from measurements that are given: how quick this machine is does not count.
    @Test(arguments: [
        // The measurement is of three passes.
        (Duration.milliseconds(250), Duration.milliseconds(50), UInt32(15)),
        (.milliseconds(250), .milliseconds(60), 13),
        (.milliseconds(250), .milliseconds(250), 3), (.milliseconds(251), .milliseconds(250), 4),
        // Never fewer than three and never more than 64.
        (.milliseconds(1), .milliseconds(250), 3), (.zero, .milliseconds(250), 3),
        (.seconds(-1), .milliseconds(250), 3),
        (.seconds(5), .milliseconds(10), 64), (.milliseconds(1), .zero, 64), (.milliseconds(1), .seconds(-1), 64),
        // Ten seconds at most are aimed at.
        (.seconds(3_600), .seconds(1), 30),
    ])
    func calibration(_ duration: Duration, _ taken: Duration, _ passes: UInt32) throws {
        var measured = 0
        let cost = try PasswordHasher.calibratedCost(for: duration, memoryKiB: 1_024) {
            measured += 1
            // The first one, which pays for fresh memory, does not count.
            return measured == 1 ? .seconds(100) : taken
        }
        #expect(cost == .init(memoryKiB: 1_024, passes: passes))
        #expect(measured == 2)
    }

    /// With the machine's own clock: what comes out depends on it, within the bounds that nothing goes beyond.
    @Test func calibrationOfThisMachine() throws {
        let cost = try PasswordHasher.calibratedCost(for: .milliseconds(1), memoryKiB: 1_024)
        #expect(cost.memoryKiB == 1_024 && (3...64).contains(cost.passes))
        #expect(
            try cheap.verify(SignInPassword("horse"), against: PasswordHasher(cost: cost).hash(SignInPassword("horse")))
                .isCorrect)
        for memoryKiB: UInt32 in [7, .max] {
            #expect(
                code { _ = try PasswordHasher.calibratedCost(for: .seconds(1), memoryKiB: memoryKiB) } == .tooExpensive)
        }
    }
}
