import Credentials
import Crypto
import Foundation
import KeychainTesting
import Synchronization
import TestSupport
import Testing

/// The examples of Documentation/Use/SigningIn.md, run. ``GuideTests`` checks that they are the same.
@Suite struct GuideExamples {
    private let typed = "correct hippo stapler"

    @Test func hashing() async throws {
        func save(_ hash: String) { #expect(hash.hasPrefix("$argon2id$")) }

        let hasher = PasswordHasher()
        let stored = try await hasher.hash(SignInPassword(typed))  // $argon2id$v=19$m=65536,t=3,p=1$…$…
        let answer = try await hasher.verify(SignInPassword(typed), against: stored)
        if let newHash = answer.newHash { save(newHash) }
        #expect(answer.isCorrect && answer.newHash == nil)

        let salt = "x4vV8bGgqqmQwgCoyXFQj"
        let digits = SHA256.hash(data: Data("\(typed).ada@example.com.\(salt)".utf8))
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let older = PasswordHasher(olderHashes: SaltedSHA256Hash(salt: "x4vV8bGgqqmQwgCoyXFQj"))
        let visit = try await older.verify(SignInPassword(typed), against: digits, account: "ada@example.com")
        if let newHash = visit.newHash { save(newHash) }
        #expect(visit.isCorrect && visit.newHash != nil)

        let nobody = try await hasher.verify(SignInPassword(typed), against: nil)
        #expect(!nobody.isCorrect)

        try withTestKeychain { _ in
            try PasswordPepper.make(named: "com.example.shop")  // once
            let pepper = try PasswordPepper(named: "com.example.shop")
            let peppered = PasswordHasher(pepper: pepper)
            #expect(peppered.needsRehash(stored))
        }
    }

    @Test func policy() {
        let policy = PasswordPolicy()
        let problems = policy.problems(with: typed, about: ["ada@example.com", "Friendvatars"])
        #expect(problems.isEmpty)
    }

    private struct Form {
        let account: String
        let password: String
    }

    private enum Response {
        case tooManyTries(Duration)
        case wrongPassword, busy
        case signedIn(SessionToken, device: String)
    }

    @Test func serverSide() async throws {
        let hasher = PasswordHasher(cost: .init(memoryKiB: 64, passes: 1))
        let adas = try await hasher.hash(SignInPassword(typed))
        func hash(of account: String) -> String? { account == "ada" ? adas : nil }
        let deviceKey = SymmetricKey(size: .bits256)

        let devices = try DeviceTokens(key: deviceKey)  // a SymmetricKey, kept in the keychain
        let throttle = SignInThrottle(devices: devices)
        let tokens = SessionTokens(store: MemorySessionStore())

        func signIn(_ form: Form, from address: String, device: String?) async throws -> Response {
            let account = form.account
            if let wait = throttle.begin(account: account, address: address, device: device) {
                return .tooManyTries(wait)
            }
            do {
                let answer = try await hasher.verify(SignInPassword(form.password), against: hash(of: account))
                guard answer.isCorrect else { return .wrongPassword }
            } catch CredentialsError.Code.busy {
                throttle.notLookedAt(account: account, address: address, device: device)
                return .busy
            }
            throttle.succeeded(account: account, address: address, device: device)
            return .signedIn(try await tokens.issue(for: account), device: devices.make(for: account))
        }

        let ada = Form(account: "ada", password: typed)
        guard case .signedIn(let token, let phone) = try await signIn(ada, from: "192.0.2.1", device: nil)
        else { throw CredentialsError(.wrongPassword, message: "Ada is not let in") }
        #expect(try await tokens.check(token.text)?.account == "ada")
        for account in ["eve", "ada"] {
            let wrong = Form(account: account, password: "x")
            for _ in 0..<5 {
                guard case .wrongPassword = try await signIn(wrong, from: "192.0.2.2", device: nil)
                else { throw CredentialsError(.wrongPassword, message: "somebody is let in, or is to wait") }
            }
            // On a busy machine the first waits may be over at once.
            var isToWait = false
            for _ in 0..<20 where !isToWait {
                if case .tooManyTries = try await signIn(wrong, from: "192.0.2.2", device: nil) { isToWait = true }
            }
            #expect(isToWait)
        }
        // Not so Ada herself.
        guard case .signedIn = try await signIn(ada, from: "192.0.2.1", device: phone)
        else { throw CredentialsError(.wrongPassword, message: "Ada is not let in") }
    }

    @Test func deviceSide() async throws {
        try await withTestKeychain { _ in
            let folder = try TemporaryFolder()
            let data = URL(filePath: folder.path)
            @Sendable func removeFriends() throws {}
            let shown = Mutex<[String?]>([])
            @Sendable func show(_ user: AuthController.User?) { shown.withLock { $0.append(user?.name) } }

            let auth = try AuthController(service: "com.example.friends", marker: data.appending(path: "installed")) {
                try removeFriends()
            }
            try await auth.signIn(.init(account: "ada@example.com", name: "Ada"), password: SignInPassword(typed))
            #expect(auth.isSignedIn)
            let task = Task {
                for await status in auth.statusChanges {
                    show(status.user)
                }
            }
            // Until the task listens.
            while shown.withLock({ $0.isEmpty }) {
                try await auth.signOut()
                try await auth.signIn(.init(account: "ada@example.com", name: "Ada"), password: SignInPassword(typed))
            }
            task.cancel()
            await task.value
            #expect(shown.withLock { $0.allSatisfy { $0 == nil || $0 == "Ada" } })
            try await auth.signOut()
        }
    }
}
