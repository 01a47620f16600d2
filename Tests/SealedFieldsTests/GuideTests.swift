import Foundation
import Testing

/// What Documentation/SealedFields.md shows is what ``GuideExamples`` runs.
@Suite struct GuideTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    @Test func everyExampleIsRun() throws {
        let guide = Self.folder.appending(path: "../../Documentation/SealedFields.md").standardizedFileURL
        let run = Self.words(
            try String(contentsOf: Self.folder.appending(path: "GuideExamples.swift"), encoding: .utf8))
        let parts = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```")
        let examples = parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        #expect(examples.count == 8)
        for example in examples {
            let lines = example.split(separator: "\n").dropFirst().filter { !$0.hasPrefix("import ") }
            #expect(!lines.isEmpty)
            // An example may be interrupted by expectations, but no line of it may be missing or move.
            var rest = run[...]
            for line in lines.map({ Self.words(String($0)) }) {
                let place = try #require(
                    rest.firstRange(of: line), "SealedFields.md has a line that is not run: \(line)")
                rest = rest[place.upperBound...]
            }
        }
    }

    /// The text without its spaces and breaks, which formatting decides on.
    private static func words(_ text: String) -> String {
        text.filter { !$0.isWhitespace }
    }
}
