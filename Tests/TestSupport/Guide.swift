import Foundation

/// A guide under `Documentation`, whose examples a test runs.
package struct Guide {
    private let examples: [String]

    package init(_ name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../Documentation/\(name)").standardizedFileURL
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```")
        examples = parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    }

    /// How many examples it has.
    package var count: Int { examples.count }

    /// The lines of its examples that the source file at `path` does not have, in their order.
    ///
    /// An example may be interrupted by expectations, but no line of it may be missing or move.
    package func linesMissing(in path: String) throws -> [String] {
        let run = Self.words(try String(contentsOf: URL(filePath: path), encoding: .utf8))
        var missing: [String] = []
        for example in examples {
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

    /// The text without its spaces and breaks, which formatting decides on.
    private static func words(_ text: String) -> String {
        text.filter { !$0.isWhitespace }
    }
}
