import Foundation
import TestSupport
import Testing

/// What README.md and Documentation/Use/Swift.md show is what ``ReadmeExamples`` runs.
@Suite struct ReadmeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test func everySwiftExampleIsRun() throws {
        let run = try Self.statements(in: Self.folder.appending(path: "ReadmeExamples.swift"))
        let examples = try ["README.md", "Documentation/Use/Swift.md"].flatMap { page in
            try Self.swiftBlocks(in: Repository.file(page))
        }.filter { !$0.contains { $0.hasPrefix("dependencies:") } }
        #expect(examples.count == 15)
        for example in examples {
            let statements = example.filter { !$0.hasPrefix("import ") }
            // An example may be interrupted by expectations, but no line of it may be missing or move.
            var rest = run[...]
            for statement in statements {
                let place = try #require(
                    rest.firstIndex(of: statement), "a page has a line that ReadmeExamples lacks: \(statement)")
                rest = rest[(place + 1)...]
            }
        }
    }

    /// The blocks marked `swift`, as lines without indentation and without empty ones.
    private static func swiftBlocks(in file: URL) throws -> [[String]] {
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```")
        let inside = parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        return inside.filter { $0.hasPrefix("swift\n") && Guide.fileName(of: $0) == nil }
            .map { Array(lines(of: $0).dropFirst()) }
    }

    private static func statements(in file: URL) throws -> [String] {
        lines(of: try String(contentsOf: file, encoding: .utf8))
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
