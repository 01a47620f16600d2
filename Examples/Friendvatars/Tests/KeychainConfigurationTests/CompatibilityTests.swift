import Configuration
import ConfigurationTesting
import Foundation
import Keychain
import KeychainConfiguration
import KeychainTesting
import Testing

/// The library's own test of providers.
@Suite struct CompatibilityTests {
    @Test func passesTheLibrarysTest() async throws {
        try await withTestKeychain { _ in
            let values = [
                "string": "Hello", "other.string": "Other Hello", "int": "42", "other.int": "24", "double": "3.14",
                "other.double": "2.72", "bool": "true", "other.bool": "false", "bytes": "magic",
                "other.bytes": "magic2",
                "stringy.array": "Hello,World", "other.stringy.array": "Hello,Swift", "inty.array": "42,24",
                "other.inty.array": "16,32", "doubly.array": "3.14,2.72", "other.doubly.array": "0.9,1.8",
                "booly.array": "true,false", "other.booly.array": "false,true,true",
                "byteChunky.array": "bWFnaWM=,bWFnaWMy", "other.byteChunky.array": "bWFnaWM=,bWFnaWMy,bWFnaWM=",
            ]
            for (account, value) in values { try await Shop.keychain.set(value, for: account) }
            try await ProviderCompatTest(provider: Shop.provider).runTest()
        }
    }
}
