import Dispatch
import Foundation
import Glibc
import Keychain
import KeychainTesting
import Synchronization
import TestSupport
import Testing

@testable import Credentials

@Suite struct AuthControllerTests {
    private static let hasher = PasswordHasher(cost: .init(memoryKiB: 64, passes: 1))
    private let ada = AuthController.User(account: "ada@example.com", name: "Ada")
    private let bob = AuthController.User(account: "bob@example.com")

    /// An installation of an app: its data folder and its preferences.
    private final class Installation {
        let suite = "keychain-tests.\(UUID())"
        let folder: TemporaryFolder
        let wiped = Counter()

        init() throws { folder = try TemporaryFolder() }

        deinit {
            let preferences = Preferences(suite: suite, key: "")
            for path in [preferences.path, preferences.lockFolder] { try? FileManager.default.removeItem(atPath: path) }
        }

        func launch(failing: Bool = false) throws -> AuthController {
            try AuthController(
                service: "com.example.friends", others: [Keychain(service: "com.example.friends.tokens")],
                preferences: suite, marker: URL(filePath: folder.path(of: "installed")),
                hasher: AuthControllerTests.hasher
            ) { [wiped] in
                if wiped.next(failing: failing) { throw CredentialsError(.file, message: "no") }
            }
        }

        func reinstall() throws { try FileManager.default.removeItem(atPath: folder.path(of: "installed")) }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }

        func next(failing: Bool) -> Bool {
            count.withLock { $0 += 1 }
            return failing
        }
    }

    @Test func aPersonComesAndGoes() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch()
            #expect(!auth.isSignedIn && auth.currentUser == nil)
            try await auth.signIn(ada, password: SignInPassword("correct horse"))
            #expect(auth.currentUser == ada)
            // The next launch knows it.
            #expect(try app.launch().currentUser == ada)
            try await auth.confirm(SignInPassword("correct horse"))
            await #expect(throws: CredentialsError(.wrongPassword, message: "")) {
                try await auth.confirm(SignInPassword("x"))
            }
            let hash = try #require(
                try await Keychain(service: "com.example.friends").get(String.self, for: ada.account))
            #expect(hash.hasPrefix("$argon2id$"))

            let tokens = Keychain(service: "com.example.friends.tokens")
            try await tokens.set("token", for: "session")
            try await auth.signOut()
            #expect(!auth.isSignedIn && app.wiped.value == 1)
            #expect(try await tokens.items().isEmpty)
            #expect(try await auth.keychain.items().isEmpty)
            await #expect(throws: CredentialsError.notSignedIn) {
                try await auth.confirm(SignInPassword("correct horse"))
            }
            try await auth.signOut()
            #expect(app.wiped.value == 1)
            #expect(try !app.launch().isSignedIn)
        }
    }

    @Test func anotherPersonTakesOver() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch()
            try await auth.signIn(ada, password: SignInPassword("a"))
            try await auth.signIn(ada, password: SignInPassword("b"))
            #expect(app.wiped.value == 0)
            try await auth.signIn(bob, password: SignInPassword("c"))
            #expect(app.wiped.value == 1 && auth.currentUser == bob)
            #expect(try await auth.keychain.items().map(\.account) == [bob.account])
        }
    }

    @Test func changesAreHeard() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch()
            let posted = Counter()
            let observer = NotificationCenter.default.addObserver(
                forName: AuthController.statusDidChange, object: auth, queue: nil
            ) { _ in _ = posted.next(failing: false) }
            defer { NotificationCenter.default.removeObserver(observer) }
            var first = auth.statusChanges.makeAsyncIterator()
            var second = auth.statusChanges.makeAsyncIterator()
            try await auth.signIn(ada, password: SignInPassword("a"))
            try await auth.signOut()
            #expect(await first.next()?.user == ada)
            #expect(await first.next()?.isSignedIn == false)
            #expect(await second.next()?.user == ada)
            #expect(posted.value == 2)
        }
    }

    /// What is left of the sign-out is done at the next launch.
    @Test func interruptedSignOut() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch(failing: true)
            try await auth.signIn(ada, password: SignInPassword("a"))
            await #expect(throws: CredentialsError(.file, message: "")) { try await auth.signOut() }
            #expect(!auth.isSignedIn && app.wiped.value == 1)
            #expect(try !app.launch().isSignedIn)
            #expect(app.wiped.value == 2)
            _ = try app.launch()
            #expect(app.wiped.value == 2)
        }
    }

    /// The same account again: what the sign-out left is removed first.
    @Test func signInAfterAnInterruptedSignOut() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch(failing: true)
            try await auth.signIn(ada, password: SignInPassword("a"))
            await #expect(throws: CredentialsError(.file, message: "")) { try await auth.signOut() }
            await #expect(throws: CredentialsError(.file, message: "")) {
                try await auth.signIn(ada, password: SignInPassword("a"))
            }
            #expect(!auth.isSignedIn && app.wiped.value == 2)
        }
    }

    /// A vault that has nothing of the person is no reason to remove anything.
    @Test func anotherVault() async throws {
        let app = try Installation()
        try await withTestKeychain { _ in
            try await app.launch().signIn(ada, password: SignInPassword("a"))
        }
        try await withTestKeychain { _ in
            let auth = try app.launch()
            #expect(!auth.isSignedIn && app.wiped.value == 0)
            try await auth.signIn(ada, password: SignInPassword("a"))
            #expect(auth.currentUser == ada && app.wiped.value == 0)
        }
    }

    /// Who signs out while the password is being hashed stays signed out.
    @Test func signedOutMeanwhile() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            var hasher = Self.hasher
            hasher.threads = BlockingThreads(limit: 1, idleTime: .seconds(60))
            let auth = try AuthController(
                service: "com.example.friends", preferences: app.suite, marker: nil, hasher: hasher)
            // Somebody else's hashing, which takes until it is told to end.
            let release = DispatchSemaphore(value: 0)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let other = Task { [hasher] in
                try await hasher.threads.run(orThrow: CredentialsError.taskCanceled) {
                    begin.yield()
                    release.wait()
                }
            }
            for await _ in begun { break }
            let signingIn = Task { try await auth.signIn(ada, password: SignInPassword("a")) }
            while hasher.threads.waitingCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            try await auth.signOut()
            release.signal()
            await #expect(throws: CredentialsError(.overtaken, message: "")) { try await signingIn.value }
            try await other.value
            #expect(!auth.isSignedIn)
        }
    }

    /// The synchronous form does the same.
    @Test func signingOutSynchronously() throws {
        try withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch()
            try auth.keychain.set("$argon2id$", for: ada.account)
            let preferences = Preferences(suite: app.suite, key: "com.example.friends.user")
            try preferences.write(.init(user: ada, isSigningOut: false))
            #expect(auth.currentUser == ada)
            try auth.signOut()
            #expect(!auth.isSignedIn && app.wiped.value == 1)
            #expect(try auth.keychain.items().isEmpty && preferences.read() == nil)
        }
    }

    /// Nobody else can sign in or out, in this process or another, while one does.
    @Test func theLockIsKept() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let preferences = Preferences(suite: app.suite, key: "")
            let refused = Counter()
            let auth = try AuthController(
                service: "com.example.friends", preferences: app.suite, marker: nil, hasher: Self.hasher
            ) {
                let descriptor = open(preferences.lockFolder + "/lock", O_RDWR | O_CLOEXEC)
                defer { close(descriptor) }
                guard descriptor >= 0 else { return }
                if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { _ = refused.next(failing: false) }
            }
            try await auth.signIn(ada, password: SignInPassword("a"))
            try await auth.signIn(bob, password: SignInPassword("b"))
            #expect(refused.value == 1)
            try await auth.signOut()
            #expect(refused.value == 2)
        }
    }

    /// More sign-outs take their time than there are threads for tasks, and tasks go on.
    @Test(.timeLimit(.minutes(60))) func signingOutHoldsUpNoTask() async throws {
        try await withTestKeychain { _ in
            let release = DispatchSemaphore(value: 0)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let count = ProcessInfo.processInfo.activeProcessorCount + 2
            let apps = try (0..<count).map { _ in try Installation() }
            let controllers = try apps.enumerated().map { number, app in
                try AuthController(
                    service: "com.example.friends.\(number)", preferences: app.suite, marker: nil, hasher: Self.hasher
                ) {
                    begin.yield()
                    release.wait()
                }
            }
            for auth in controllers { try await auth.signIn(ada, password: SignInPassword("a")) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for auth in controllers { group.addTask { try await auth.signOut() } }
                var left = count
                for await _ in begun {
                    left -= 1
                    if left == 0 { break }
                }
                await Task.detached {}.value
                for _ in 0..<count { release.signal() }
                try await group.waitForAll()
            }
            #expect(controllers.allSatisfy { !$0.isSignedIn })
        }
    }

    /// Preferences that cannot be written let nobody in, and say so.
    @Test func unwritablePreferences() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let outer = Preferences(suite: app.suite, key: "")
            let blocked = String(outer.path.dropLast(".plist".count))
            try FileManager.default.createDirectory(
                atPath: URL(filePath: blocked).deletingLastPathComponent().path, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: blocked))
            defer { try? FileManager.default.removeItem(atPath: blocked) }
            // A file stands where the folder of the preferences would be.
            let auth = try AuthController(
                service: "com.example.friends", preferences: app.suite + "/inner", marker: nil, hasher: Self.hasher)
            await #expect(throws: CredentialsError(.file, message: "")) {
                try await auth.signIn(ada, password: SignInPassword("a"))
            }
            #expect(!auth.isSignedIn)
            #expect(try await auth.keychain.items().isEmpty)
            try await auth.signOut()
        }
    }

    /// Everything else in the preferences stays, of whatever kind, and is seen by UserDefaults beside the note.
    @Test func otherPreferencesStay() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch()
            let defaults = try #require(UserDefaults(suiteName: app.suite))
            defaults.set(true, forKey: "flag")
            defaults.set(["a", 1, 2.5] as [Any], forKey: "list")
            defaults.synchronize()
            let url = URL(filePath: Preferences(suite: app.suite, key: "").path)
            let before = try Data(contentsOf: url)
            try await auth.signIn(ada, password: SignInPassword("a"))
            #expect(defaults.data(forKey: "com.example.friends.user") != nil)
            defaults.set("later", forKey: "text")
            defaults.synchronize()
            #expect(auth.currentUser == ada)
            try await auth.signOut()
            #expect(defaults.data(forKey: "com.example.friends.user") == nil)
            defaults.removeObject(forKey: "text")
            defaults.synchronize()
            #expect(try Data(contentsOf: url) == before)
        }
    }

    /// What is no list of preferences is not overwritten; what a full disk has left of one is.
    @Test func damagedPreferences() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            let auth = try app.launch()
            let url = URL(filePath: Preferences(suite: app.suite, key: "").path)
            try await auth.signIn(bob, password: SignInPassword("a"))
            try Data("<plist>".utf8).write(to: url)
            await #expect(throws: CredentialsError(.file, message: "")) {
                try await auth.signIn(ada, password: SignInPassword("a"))
            }
            #expect(try Data(contentsOf: url) == Data("<plist>".utf8))
            try Data().write(to: url)
            try await auth.signIn(ada, password: SignInPassword("a"))
            #expect(auth.currentUser == ada)
        }
    }

    @Test func aNewInstallationStartsClean() async throws {
        try await withTestKeychain { _ in
            let app = try Installation()
            try await app.launch().signIn(ada, password: SignInPassword("a"))
            try app.reinstall()
            let auth = try app.launch()
            #expect(!auth.isSignedIn && app.wiped.value == 0)
            #expect(try await auth.keychain.items().isEmpty)
        }
    }

    @Test func accountsHaveNames() async throws {
        try await withTestKeychain { _ in
            let auth = try Installation().launch()
            await #expect(throws: CredentialsError(.invalidAccount, message: "")) {
                try await auth.signIn(.init(account: ""), password: SignInPassword("a"))
            }
        }
    }
}
