import Foundation
import TestSupport
import Testing

/// The version that the programs print is the one that the pages name.
@Suite struct VersionTests {
    @Test func onePlaceSaysTheVersion() throws {
        let source = try Repository.text("Sources/10-Programs/KeychainDaemon/DaemonProgram.swift")
        let version = try #require(source.firstMatch(of: /version = "((\d+\.\d+)\.\d+)"/))
        let changes = try Repository.text("CHANGELOG.md")
        #expect(changes.firstMatch(of: /\n## (\S+)\n/)?.1 == version.1)
        for page in [
            "README.md", "Documentation/Start/FirstSecret.md", "Documentation/Use/Configuration.md",
            "Documentation/Use/Hummingbird.md", "Documentation/Use/TLS.md",
        ] {
            let named = try Repository.text(page).matches(of: /swift-keychain\.git", from: "(\d+\.\d+)\.\d+"/)
            #expect(named.map(\.1) == [version.2], "\(page)")
        }
    }
}
