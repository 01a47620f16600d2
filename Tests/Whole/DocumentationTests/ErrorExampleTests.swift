import Foundation
import TestSupport
import Testing

/// Each example that catches an error is compiled where people write it: in a function, in an asynchronous one, in a
/// closure, and as top-level code. The program `ErrorExamples` has them.
@Suite struct ErrorExampleTests {
    private static let root = Repository.root

    @Test func everyExampleIsCompiledInAllPlaces() throws {
        let program = Self.root.appending(path: "Tests/Support/Workers/ErrorExamples")
        let places = Self.words(try String(contentsOf: program.appending(path: "Places.swift"), encoding: .utf8))
        let topLevel = Self.words(try String(contentsOf: program.appending(path: "main.swift"), encoding: .utf8))
        let examples = try Self.examples()
        #expect(examples.count == 8)
        for example in examples {
            let words = Self.words(example)
            // What waits cannot stand in a synchronous function.
            let count = example.contains("await") ? 2 : 3
            #expect(places.ranges(of: words).count == count, "Places.swift lacks: \(example)")
            #expect(topLevel.contains(words), "main.swift lacks: \(example)")
        }
    }

    /// The examples of README.md, of the guides and of doc comments that have a `catch` and are no whole files.
    private static func examples() throws -> [String] {
        var texts = try [String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)]
        for folder in ["Documentation", "Sources/8-Apple", "Sources/9-Swift"] {
            let files = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                switch file.pathExtension {
                case "md": texts.append(try String(contentsOf: file, encoding: .utf8))
                case "swift":
                    let comments = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                        .map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }.map { $0.dropFirst(3) }
                    texts.append(comments.joined(separator: "\n"))
                default: break
                }
            }
        }
        return texts.flatMap { text in
            text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        }.filter { $0.contains("catch ") && Guide.fileName(of: "swift\n" + $0) == nil }
    }

    /// The text without its spaces and breaks, which formatting decides on, and without the `await` that the
    /// asynchronous form of an operation needs.
    private static func words(_ text: String) -> String {
        text.filter { !$0.isWhitespace }.replacing("tryawait", with: "try")
    }
}
