import Configuration
import Foundation
import Keychain
import KeychainConfiguration
import KeychainTesting
import Testing

/// Values show nowhere but where they were asked for.
@Suite struct SecrecyTests {
    private static let secret = "correct horse"

    @Test func reportsEveryValueAsSecret() async throws {
        try await withTestKeychain { _ in
            try await Shop.keychain.set(Self.secret, for: Shop.account)
            let reports = Reports()
            let config = ConfigReader(provider: Shop.provider, accessReporter: reports)
            // Nobody has said that it is one.
            #expect(config.string(forKey: "database.password") == Self.secret)
            #expect(try await config.fetchRequiredString(forKey: "database.password") == Self.secret)
            #expect(config.snapshot().string(forKey: "database.password") == Self.secret)
            #expect(config.bytes(forKey: "database.password") == Array(Self.secret.utf8))
            #expect(config.stringArray(forKey: "database.password") == [Self.secret])
            try await config.watchString(forKey: "database.password") { updates in
                for await update in updates {
                    #expect(update == Self.secret)
                    break
                }
            }
            // Of another form: an error, in which the value must not be either.
            #expect(config.int(forKey: "database.password") == nil)

            let events = reports.events
            #expect(events.count == 7)
            for event in events {
                if let value = try event.result.get() { #expect(value.isSecret) }
                for result in event.providerResults {
                    if case .success(let lookup) = result.result { #expect(lookup.value?.isSecret == true) }
                }
                #expect(!"\(event) \(event.providerResults) \(event.result)".contains(Self.secret))
                #expect(!"\(event)".contains("636f7272"), "the beginning in hexadecimal")
            }
        }
    }

    @Test func describesNoValue() throws {
        try withTestKeychain { world in
            try Shop.keychain.set(Self.secret, for: Shop.account)
            let provider = KeychainProvider(service: Shop.service, bytesDecoder: .base64)
            let snapshot = provider.snapshot()
            #expect(try snapshot.value(forKey: Shop.password, type: .string).text == Self.secret)
            #expect("\(provider)" == "KeychainProvider[com.example.shop]")
            #expect(provider.providerName == "\(provider)" && snapshot.providerName == "\(provider)")
            #expect("\(snapshot)" == "KeychainProvider[com.example.shop], 1 values")
            var texts = ["\(snapshot)", String(reflecting: provider), String(reflecting: snapshot)]
            var dumped = ""
            dump(provider, to: &dumped)
            dump(snapshot, to: &dumped)
            dump(provider.snapshot() as Any, to: &dumped)
            texts.append(dumped)
            texts.append("\(ConfigReader(provider: provider))")
            for text in texts {
                #expect(!text.contains(Self.secret) && !text.contains("13 bytes"), "\(text)")
            }
            world.lock()
            #expect("\(provider.snapshot())".contains("locked"))
        }
    }
}
