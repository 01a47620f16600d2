import Foundation
import TestSupport
import Testing

/// The Swift Package Index is told of every product that it can document.
@Suite struct PackageIndexTests {
    @Test func everyProductIsListed() throws {
        let manifest = try Repository.text("Package.swift")
        let block = try #require(manifest.firstMatch(of: #/products: \[([^\]]*)\]\.map/#)).1
        let products = Set(block.matches(of: #/"(\w+)"/#).map { String($0.1) })
        let listed = try Repository.text(".spi.yml").matches(of: #/ +- (\w+)\n/#).map { String($0.1) }
        // The file says why.
        let left: Set = [
            "CommonCrypto", "HummingbirdCredentials", "KeychainConfiguration", "KeychainHTTP", "KeychainTLS",
        ]
        #expect(Set(listed) == products.subtracting(left))
        #expect(Set(listed).count == listed.count)
    }
}
