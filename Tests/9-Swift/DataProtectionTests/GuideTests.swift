import Foundation
import TestSupport
import Testing

/// What Documentation/Use/DataProtection.md shows is what ``GuideExamples`` runs.
@Suite struct GuideTests {
    @Test func everyExampleIsRun() throws {
        let guide = try Guide("Use/DataProtection.md")
        let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "GuideExamples.swift")
        #expect(guide.count == 8)
        #expect(try guide.linesMissing(in: examples.path) == [])
    }
}
