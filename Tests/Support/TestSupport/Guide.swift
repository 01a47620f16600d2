import Foundation

/// A guide under `Documentation` whose examples a test runs.
package struct Guide {
    private let examples: [String]

    package init(_ name: String) throws {
        let parts = try Repository.text("Documentation/\(name)").components(separatedBy: "```")
        examples = parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    }

    /// The number of its examples, whole files included.
    package var count: Int { examples.count }

    /// Returns the lines of the examples that the source file at `path` does not have in the same order.
    ///
    /// Expectations may stand between the lines of an example, but no line may be missing or moved.
    package func linesMissing(in path: String) throws -> [String] {
        let run = Self.words(try String(contentsOf: URL(filePath: path), encoding: .utf8))
        var missing: [String] = []
        for example in examples where example.hasPrefix("swift") && Self.fileName(of: example) == nil {
            let lines = example.split(separator: "\n").dropFirst().filter { !$0.hasPrefix("import ") }
            if lines.isEmpty { missing.append("an example without lines") }
            var rest = run[...]
            for line in lines.map(String.init) {
                guard let place = rest.firstRange(of: Self.words(line)) else {
                    missing.append(line)
                    continue
                }
                rest = rest[place.upperBound...]
            }
        }
        return missing
    }

    /// Returns the name in the first line of an example that is a whole file, such as `// Notes.swift`; nil for others.
    ///
    /// DocumentationTests compiles such files as they are.
    package static func fileName(of example: String) -> String? {
        example.firstMatch(of: #/^swift\n\/\/ ([\w\/]+\.swift)\n/#).map { String($0.1) }
    }

    /// Returns the text without white space, because that depends on the formatting.
    private static func words(_ text: String) -> String {
        text.filter { !$0.isWhitespace }
    }
}
