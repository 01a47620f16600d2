import Configuration
import Foundation
import Keychain
import KeychainConfiguration
import KeychainTesting
import Synchronization
import TestSupport
import Testing

/// What Documentation/Use/Configuration.md shows in Swift is run here.
@Suite(.timeLimit(.minutes(5))) struct GuideTests {
    /// What a server keeps open with the password.
    private final class Pool: Sendable {
        private let last = Mutex("")

        var password: String { last.withLock { $0 } }

        func reconnect(with password: String) async throws { last.withLock { $0 = password } }
    }

    @Test func examples() async throws {
        try await withTestKeychain(client: TestClient(name: "shop", accessGroups: ["shop.service", "shop"])) { _ in
            let keychain = Keychain(service: "com.example.shop", accessGroup: "shop")
            try await keychain.set("correct horse", for: "database.password")

            let config = ConfigReader(providers: [
                KeychainProvider(service: "com.example.shop", accessGroup: "shop"),
                EnvironmentVariablesProvider(),
            ])
            let password = try config.requiredString(forKey: "database.password", isSecret: true)
            let port = config.int(forKey: "database.port", default: 5432)
            #expect(password == "correct horse" && port == 5432)

            let pool = Pool()
            let watch = Task {
                try await config.watchString(forKey: "database.password", isSecret: true) { passwords in
                    for await password in passwords {
                        if let password { try await pool.reconnect(with: password) }
                    }
                }
            }
            while pool.password != "correct horse" { await Task.yield() }
            try await keychain.set("battery staple", for: "database.password")
            while pool.password != "battery staple" { await Task.yield() }
            watch.cancel()
            try await watch.value
        }
    }

    @Test func everyExampleIsRun() throws {
        let (examples, missing) = try Guide.missingLines(of: "Use/Configuration.md", in: #filePath)
        #expect(examples == 2 && missing == [])
    }
}
