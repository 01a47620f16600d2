import Configuration
import Foundation
import Keychain
import KeychainConfiguration
import KeychainServices
import KeychainTesting
import Testing

/// Which item is read, and what is said when it cannot be.
@Suite struct ReadingTests {
    private let environment = EnvironmentVariablesProvider(
        environmentVariables: ["DATABASE_PASSWORD": "from the environment", "HTTP_PORT": "8080"])

    private func reader(_ reports: Reports? = nil) -> ConfigReader {
        ConfigReader(providers: [Shop.provider, environment], accessReporter: reports)
    }

    @Test func findsTheItemOfTheWholeKey() async throws {
        try await withTestKeychain { _ in
            try await Shop.keychain.set("correct horse", for: "database.primary.password")
            try await Keychain(service: "com.example.other").set("another", for: "database.primary.password")
            let config = reader()
            #expect(try config.requiredString(forKey: "database.primary.password") == "correct horse")
            #expect(try await config.fetchRequiredString(forKey: "database.primary.password") == "correct horse")
            let database = config.scoped(to: "database.primary")
            #expect(database.string(forKey: ConfigKey("password", context: ["tenant": "a"])) == "correct horse")
            #expect(config.string(forKey: "database.primary") == nil)
        }
    }

    @Test func leavesWhatIsMissingToTheNextProvider() async throws {
        try await withTestKeychain { world in
            let config = reader()
            #expect(config.string(forKey: "database.password") == "from the environment")
            #expect(try await config.fetchString(forKey: "database.password") == "from the environment")
            #expect(config.snapshot().string(forKey: "database.password") == "from the environment")
            // An item without a value has none to give.
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: Shop.service, kSecAttrAccount: Shop.account,
            ]
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
            #expect(config.string(forKey: "database.password") == "from the environment")
            #expect(config.snapshot().string(forKey: "database.password") == "from the environment")

            try await Shop.keychain.set("from the keychain", for: Shop.account)
            #expect(config.string(forKey: "database.password") == "from the keychain")
            #expect(config.int(forKey: "http.port") == 8080)
            let reversed = ConfigReader(providers: [environment, Shop.provider])
            #expect(reversed.string(forKey: "database.password") == "from the environment")
            // Locked or not, what is not there is not there.
            world.lock()
            #expect(try config.requiredInt(forKey: "http.port") == 8080)
        }
    }

    /// The environment's value must not stand in for one that is there and cannot be read.
    @Test func takesNothingUnreadableForMissing() async throws {
        try await withTestKeychain { world in
            try await Shop.keychain.set("from the keychain", for: Shop.account)
            world.lock()
            let reports = Reports()
            let config = reader(reports)
            func expectLocked(_ read: () async throws -> String?) async {
                let error = await #expect(throws: KeychainError.self) { try await read() }
                #expect(error?.code == .interactionNotAllowed && error?.status == errSecInteractionNotAllowed)
                #expect(error?.message.contains("'database.password'") == true)
                #expect(error?.message.contains("locked") == true)
            }
            await expectLocked { try config.requiredString(forKey: "database.password") }
            await expectLocked { try await config.fetchString(forKey: "database.password") }
            await expectLocked { try config.snapshot().requiredString(forKey: "database.password") }
            #expect(config.string(forKey: "database.password") == nil)
            #expect(config.string(forKey: "database.password", default: "default") == "default")
            for event in reports.events {
                #expect(event.providerResults.count == 1)
                guard case .failure(let error) = event.providerResults[0].result else {
                    Issue.record("read a locked value")
                    continue
                }
                #expect((error as? KeychainError)?.code == .interactionNotAllowed)
            }
            #expect(reports.events.count == 5)

            world.unlock()
            #expect(try config.requiredString(forKey: "database.password") == "from the keychain")
        }
    }

    @Test func asksNobody() async throws {
        try await withTestKeychain { world in
            try await Keychain(service: Shop.service, accessControl: .userPresence).set("guarded", for: Shop.account)
            #expect(throws: KeychainError(.interactionNotAllowed, status: 0, message: "")) {
                try Shop.provider.value(forKey: Shop.password, type: .string)
            }
            #expect(throws: KeychainError(.interactionNotAllowed, status: 0, message: "")) {
                try Shop.provider.snapshot().value(forKey: Shop.password, type: .string)
            }
            #expect(world.prompts.isEmpty)
        }
    }

    @Test func readsTheAccessGroupItIsTold() async throws {
        let client = TestClient(name: "shop", accessGroups: ["shop", "shared"])
        try await withTestKeychain(client: client) { world in
            try await Keychain(service: Shop.service, accessGroup: "shared").set("shared", for: Shop.account)
            try await Shop.keychain.set("own", for: Shop.account)
            func password(in group: String?) throws -> String? {
                try KeychainProvider(service: Shop.service, accessGroup: group)
                    .value(forKey: Shop.password, type: .string).text
            }
            #expect(try password(in: nil) == "own")
            #expect(try password(in: "shop") == "own")
            #expect(try password(in: "shared") == "shared")
            let shared = KeychainProvider(service: Shop.service, accessGroup: "shared").snapshot()
            #expect(try shared.value(forKey: Shop.password, type: .string).text == "shared")
            #expect(throws: KeychainError(.accessDenied, status: 0, message: "")) { try password(in: "others") }
            world.client = TestClient(name: "nobody", accessGroups: [])
            #expect(throws: KeychainError(.accessDenied, status: 0, message: "")) { try password(in: nil) }
        }
    }

    @Test func namesTheKeyOfAValueOfAnotherForm() async throws {
        try await withTestKeychain { _ in
            try await Shop.keychain.set("secret port", for: "database.port")
            let config = reader()
            let error = #expect(throws: KeychainError.self) { try config.requiredInt(forKey: "database.port") }
            #expect(error?.code == .undecodableValue && error?.status == errSecDecode)
            #expect(error?.description.contains("'database.port'") == true)
            #expect(error?.description.contains("secret port") == false)
            #expect(config.int(forKey: "database.port", default: 5432) == 5432)
        }
    }

    @Test func fetchingEndsWithItsTask() async throws {
        try await withTestKeychain { _ in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await Shop.provider.fetchValue(forKey: Shop.password, type: .string)
            }
            await #expect(throws: KeychainError(.taskCanceled, status: 0, message: "")) { try await task.value }
        }
    }
}
