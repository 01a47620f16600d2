import DaemonLink
import Foundation
import TestSupport
import Testing
import VaultInterface

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

    /// Numbers of operations are never given to others.
    @Test func thePageHasEachOperation() throws {
        let rows = try Self.page.matches(of: /\n\| ([0-9]+) \| ([a-z ]+) \|/).map { ($0.1, $0.2) }
        for code in OperationCode.allCases {
            let name = code.operation.name.replacing("-", with: " ")
            #expect(rows.contains { $0.0 == "\(code.rawValue)" && $0.1 == name }, "\(code.rawValue) \(name)")
        }
    }
}
