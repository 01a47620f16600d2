import Foundation
import Testing

/// Documentation/Specify/Output.md: the members of what each command prints with `--json`.
struct OutputPage {
    private var members: [String: Set<String>] = [:]

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let text = try String(
            contentsOf: root.appending(path: "Documentation/Specify/Output.md").standardizedFileURL, encoding: .utf8)
        var former: Set<String> = []
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let columns = line.components(separatedBy: " | ")
            guard columns.count == 3 else { continue }
            var words = Set(Self.words(columns[2]))
            for other in columns[2].matches(of: #/[Aa]s of `([\w -]+)`/#) {
                words.formUnion(members[String(other.1)] ?? [])
            }
            if columns[2].contains("as above") { words.formUnion(former) }
            former = words
            for command in Self.words(columns[0]) { members[command, default: []].formUnion(words) }
        }
    }

    private static func words(_ text: String) -> [String] {
        text.matches(of: #/`([^`]+)`/#).map { String($0.1) }
    }

    var commands: Int { members.count }

    /// Returns the members in the output of a command line that the page does not have.
    func strangers(in output: String, of line: String) -> Set<String> {
        let parts = line.split { ";|&".contains($0) }.filter { $0.contains(" --json") }
        guard let words = parts.last?.firstMatch(of: #/keychain ([a-z-]+)(?: ([a-z-]+))?/#),
            // What the names of columns and attributes are is somebody else's.
            words.1 != "db" || words.2 != "shell"
        else { return [] }
        let aliases = ["ls": "list", "rm": "delete", "cp": "copy", "mv": "rename", "search": "find"]
        let first = String(words.1)
        let second = words.2.map { aliases[String($0)] ?? String($0) } ?? ""
        guard let known = members["\(first) \(second)"] ?? members[aliases[first] ?? first] else {
            return output.hasPrefix("{") ? ["every member of \(first)"] : []
        }
        let values = output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8))
        }
        return values.reduce(into: Set<String>()) { $0.formUnion(Self.names(in: $1)) }.subtracting(known)
    }

    private static func names(in value: Any) -> Set<String> {
        if let list = value as? [Any] { return list.reduce(into: Set<String>()) { $0.formUnion(names(in: $1)) } }
        guard let object = value as? [String: Any] else { return [] }
        return object.reduce(into: Set<String>()) { found, member in
            found.insert(member.key)
            if !["attributes", "items"].contains(member.key) { found.formUnion(names(in: member.value)) }
        }
    }
}
