import Foundation

/// A session at the command line, as text: what is typed and what must come of it.
///
/// A line that starts with `$ ` is run by a shell, with the lines that follow it and start with `> `; lines after it
/// are its standard output; lines that start with `! ` are its standard error; `[N]` is an exit status other than 0.
/// `...` stands for anything within a line, `{home}` for the vault's folder. Lines before the first command and lines
/// that start with `#` say what the session is about.
struct Transcript {
    struct Step {
        var line: Int
        var command: String
        var output: [String] = []
        var errors: [String] = []
        var status: Int32 = 0
    }

    var steps: [Step] = []

    init(_ text: String, home: String) {
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            let expected = line.replacingOccurrences(of: "{home}", with: home)
            if line.hasPrefix("$ ") {
                steps.append(Step(line: index + 1, command: String(expected.dropFirst(2))))
            } else if line.hasPrefix("> "), let last = steps.last, last.output.isEmpty, last.errors.isEmpty {
                steps[steps.count - 1].command += "\n" + expected.dropFirst(2)
            } else if line.hasPrefix("#") || line.isEmpty || steps.isEmpty {
                continue
            } else if line.hasPrefix("! ") {
                steps[steps.count - 1].errors.append(String(expected.dropFirst(2)))
            } else if line.hasPrefix("["), line.hasSuffix("]"), let status = Int32(line.dropFirst().dropLast()) {
                steps[steps.count - 1].status = status
            } else {
                steps[steps.count - 1].output.append(expected)
            }
        }
    }

    /// Whether `actual` is `expected`, in which `...` stands for anything.
    static func matches(_ actual: [String], _ expected: [String]) -> Bool {
        actual.count == expected.count && zip(actual, expected).allSatisfy { matches($0, $1) }
    }

    private static func matches(_ actual: String, _ expected: String) -> Bool {
        let parts = expected.components(separatedBy: "...")
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return actual == expected }
        guard actual.hasPrefix(first) else { return false }
        var rest = actual.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }

    static func lines(_ text: String) -> [String] {
        var lines = text.components(separatedBy: "\n")
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.filter { !$0.isEmpty }
    }
}
