import Foundation
import TestSupport
import Testing

@testable import VaultService

@Suite struct ProtocolPageTests {
    private static var page: String {
        get throws { try Repository.text("Documentation/Specify/Protocol.md") }
    }

    /// A second implementation offers the version that the page names.
    @Test func thePageHasTheVersionThatTheCodeSpeaks() throws {
        let found = try #require(try Self.page.firstMatch(of: /either side\. Version ([0-9]+)\./))
        #expect(UInt16(found.1) == WireProtocol.version)
    }
}
