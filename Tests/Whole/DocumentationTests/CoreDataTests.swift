import Foundation
import TestSupport
import Testing

/// What CoreData.md shows is what the example of a personal vault has, which `make example` runs.
@Suite struct CoreDataTests {
    private static let root = Repository.root

    @Test func everySwiftExampleIsInThePersonalVault() throws {
        let sources = Self.root.appending(path: "Examples/PersonalVault/Sources/PersonalVault")
        let files = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
        let vault = try files.map { Self.lines(of: try String(contentsOf: $0, encoding: .utf8)) }
        let guide = try String(contentsOf: Self.root.appending(path: "Documentation/Use/CoreData.md"), encoding: .utf8)
        let blocks = guide.components(separatedBy: "```").enumerated()
            .filter { !$0.offset.isMultiple(of: 2) && $0.element.hasPrefix("swift\n") }
            .map { Self.lines(of: String($0.element.dropFirst("swift\n".count))) }
        #expect(blocks.count == 11)
        for block in blocks {
            let isThere = vault.contains { lines in
                lines.indices.contains { lines[$0...].starts(with: block) }
            }
            #expect(isThere, "the example lacks: \(block.joined(separator: "\n"))")
        }
    }

    /// Without indentation, and without empty ones.
    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
