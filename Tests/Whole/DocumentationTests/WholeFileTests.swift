import Credentials
import Crypto
import Foundation
import GRDB
import Keychain
import KeychainTesting
import SealedFields
import TestSupport
import Testing

/// The examples of the pages that are whole files are compiled here, as the pages have them, and do what the pages say.
@Suite struct WholeFileTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Files")
    /// The programs of the tutorials, each in a target of its own, by the name on the page.
    private static let programs = [
        "Sources/Mail/main.swift": "MailTutorial", "Sources/Shop/main.swift": "ShopTutorial",
    ]
    /// A file that makes names visible in a whole module, which `Scripts/check/names.sh` builds.
    private static let exempt = "Names.swift"

    @Test func thePagesHaveTheFilesOfThisBuild() throws {
        var shown: Set<String> = []
        for (page, text) in try Pages(Repository.root).texts where page.hasPrefix("Documentation/") {
            let parts = text.components(separatedBy: "```").enumerated().filter { !$0.offset.isMultiple(of: 2) }
            for example in parts.map(\.element) {
                guard let name = Guide.fileName(of: example), name != Self.exempt else { continue }
                shown.insert(name)
                let file =
                    Self.programs[name].map { Repository.file("Tests/Support/Workers/\($0)/main.swift") }
                    ?? Self.folder.appending(path: name)
                let source = try String(contentsOf: file, encoding: .utf8)
                #expect(example.dropFirst("swift\n".count) == source, "\(page) and \(file.path) have different code")
            }
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(shown == Set(files + Self.programs.keys))
    }

    /// What Documentation/Use/Platforms.md says of a manifest is in one that `Scripts/check/names.sh` builds.
    @Test func theManifestForTwoPlatformsIsBuilt() throws {
        let line = #".product(name: "Security", package: "swift-keychain", condition: .when(platforms: [.linux]))"#
        #expect(try Repository.text("Documentation/Use/Platforms.md").contains(line))
        let manifest = try Repository.text("Tests/Support/Packages/WithSecurity/Package.swift")
        func words(_ text: String) -> String { text.filter { !$0.isWhitespace } }
        #expect(words(manifest).contains("Target.Dependency" + words(line)))
    }

    // MARK: - What they do

    @Test func aDiaryIsEncrypted() throws {
        let folder = try TemporaryFolder()
        try withTestKeychain { _ in
            let found = try secrets(at: folder.path(of: "diary.db"))
            #expect(found == ["a secret"])
        }
        let bytes = try Data(contentsOf: URL(filePath: folder.path(of: "diary.db")))
        #expect(bytes.range(of: Data("a secret".utf8)) == nil)
    }

    @Test func aNoteIsSealed() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path(of: "database"))
        try withTestKeychain { _ in
            let found = try notesOfMonday(in: queue)
            #expect(found.map(\.body) == ["Dear diary"])
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT length(body) FROM note") } == 10 + 1 + 38)
    }

    @Test func aCardAsksWhenItIsOpened() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path(of: "database"))
        try queue.write { try $0.execute(sql: "CREATE TABLE card (id TEXT PRIMARY KEY, pin BLOB)") }
        try withTestKeychain { world in
            try store(pin: "4711", in: queue)
            Card.fieldSealing.keys.discard()
            let asked = world.prompts.count
            #expect(try pin(in: queue) == "4711")
            #expect(world.prompts.count == asked + 1)
        }
    }

    @Test func aPersonIsFoundByASealedAddress() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path(of: "database"))
        try withTestKeychain { _ in
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE person (id BLOB PRIMARY KEY, email BLOB, emailDigest BLOB)")
                try Person(id: UUID(), email: "ada@example.com").insert(db)
                try Person(id: UUID(), email: "bob@example.com").insert(db)
            }
            let ada = try person(withEmail: "ada@example.com", in: queue)
            #expect(ada?.email == "ada@example.com")
        }
    }

    @Test func aTransformerSeals() throws {
        try withTestKeychain { _ in
            let text = roundTrip("Dear diary")
            #expect(text == "Dear diary")
        }
    }

    @Test func anAccountIsChecked() async throws {
        let accounts = Accounts()
        try await accounts.register("ada", password: "correct hippo stapler")
        #expect(try await accounts.check("ada", password: "correct hippo stapler"))
        #expect(try await !accounts.check("ada", password: "wrong"))
        #expect(try await !accounts.check("eve", password: "correct hippo stapler"))
    }

    @Test func aPersonSignsIn() async throws {
        let accounts = SignInAccounts()
        let server = try SignIn(deviceKey: .init(size: .bits256)) { try await accounts.hash(of: $0) }
        let ada = Form(account: "ada", password: "correct hippo stapler")
        guard case .signedIn(let token, _) = try await server.signIn(ada, from: "192.0.2.1", device: nil) else {
            Issue.record("Ada is not let in")
            return
        }
        #expect(try await server.tokens.check(token.text)?.account == "ada")
    }

    @Test func aTokenIsReplaced() throws {
        try withTestKeychain { _ in
            let token = Token(service: "com.example.mail")
            #expect(try token.read() == nil)
            try token.write(Data("one".utf8))
            try token.write(Data("two".utf8))
            #expect(try token.read() == Data("two".utf8))
        }
    }

    @Test func aSessionIsRenewedOnce() async throws {
        try await withTestKeychain { _ in
            let store = SessionStore()
            let old = Session(token: "one", expires: .distantFuture)
            let new = Session(token: "two", expires: .distantFuture)
            try await store.save(old, for: "alice")
            #expect(try await store.renew(old, with: new, for: "alice"))
            #expect(try await !store.renew(old, with: new, for: "alice"))
            let (seen, continuation) = AsyncStream.makeStream(of: Session?.self)
            let following = Task { try await store.follow("alice") { continuation.yield($0) } }
            defer { following.cancel() }
            for await session in seen {
                #expect(session == new)
                break
            }
        }
    }

    @Test func balancesAskOnce() async throws {
        try await withTestKeychain { world in
            let bank = Keychain(service: "com.example.bank", accessControl: .userPresence)
            try await bank.set(100, for: "checking")
            try await bank.set(2_000, for: "savings")
            #expect(try await balances(of: ["checking", "savings"]) == ["checking": 100, "savings": 2_000])
            #expect(world.prompts == ["Show your accounts"])
        }
    }
}

/// One account, whose hash costs little.
private actor SignInAccounts {
    private var stored: String?

    func hash(of account: String) async throws -> String? {
        guard account == "ada" else { return nil }
        if let stored { return stored }
        let made = try await PasswordHasher(cost: .init(memoryKiB: 64, passes: 1))
            .hash(SignInPassword("correct hippo stapler"))
        stored = made
        return made
    }
}
