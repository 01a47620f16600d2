import Foundation

/// A page of the documentation, whose examples in Swift a test file runs.
public enum Guide {
    /// The lines of the examples that are not in the file, or not in their order; and how many examples there are.
    ///
    /// - Parameters:
    ///   - name: The page, such as `Hummingbird.md`.
    ///   - file: Where its examples are run: the caller's `#filePath`, in a folder of this package's tests.
    public static func missingLines(of name: String, in file: String) throws -> (examples: Int, missing: [String]) {
        let here = URL(filePath: file)
        let root = (0..<5).reduce(here) { folder, _ in folder.deletingLastPathComponent() }
        let guide = try String(contentsOf: root.appending(path: "Documentation/\(name)"), encoding: .utf8)
        let blocks = guide.components(separatedBy: "```").enumerated().filter { !$0.offset.isMultiple(of: 2) }
        let run = lines(of: try String(contentsOf: here, encoding: .utf8))
        var missing: [String] = []
        for (_, block) in blocks {
            // The first says that it is Swift.
            let example = lines(of: block).dropFirst().filter { !$0.hasPrefix("import ") }
            if example.isEmpty { missing.append("an empty example") }
            var rest = run[...]
            for line in example {
                if let place = rest.firstIndex(of: line) { rest = rest[(place + 1)...] } else { missing.append(line) }
            }
        }
        return (blocks.count, missing)
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
