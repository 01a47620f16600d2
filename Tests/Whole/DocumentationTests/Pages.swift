import Foundation

/// The pages of the repository, and what their links and their names of tests mean.
struct Pages {
    /// The text of each page, by its path from the package's folder on.
    var texts: [String: String] = [:]
    /// The paths of all files and folders.
    var places: Set<String> = []
    /// The functions of each type in the tests, by the type's name. A file's name stands for a suite, too.
    var suites: [String: Set<String>] = [:]

    /// What a page may have. The first pages are short, because everybody reads them.
    struct Measure {
        var bytes: Int
        var wordsOfACell = 40
        var wordsOfASentence = 30
    }

    private static let measures = ["README.md": Measure(bytes: 10 << 10), "SECURITY.md": Measure(bytes: 12 << 10)]
    private static let claims = "Documentation/Security/Claims.md"

    init(_ root: URL) throws {
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        while let file = files?.nextObject() as? URL {
            let path = file.pathComponents.dropFirst(root.pathComponents.count).joined(separator: "/")
            places.insert(path)
            switch file.pathExtension {
            case "md": texts[path] = try String(contentsOf: file, encoding: .utf8)
            case "swift" where ["Tests", "Examples", "Benchmarks"].contains { path.hasPrefix($0 + "/") }:
                let source = try String(contentsOf: file, encoding: .utf8)
                suites[file.deletingPathExtension().lastPathComponent, default: []].formUnion([])
                suites.merge(Self.functions(in: source)) { $0.union($1) }
            default: break
            }
        }
    }

    /// The functions of each type of a source, which begins at the margin.
    static func functions(in source: String) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        var type: String?
        for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: ":") }
            func word(after keyword: String) -> String? {
                guard let place = words.firstIndex(where: { $0.elementsEqual(keyword.utf8) }), place + 1 < words.count
                else { return nil }
                let name = words[place + 1].prefix { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ".") }
                return String(Substring(name))
            }
            if line.first != UInt8(ascii: " ") {
                let keywords = ["struct", "class", "actor", "enum", "extension"]
                guard let name = keywords.lazy.compactMap({ word(after: $0) }).first else { continue }
                type = name
                found[name, default: []].formUnion([])
            } else if let type, let name = word(after: "func") {
                found[type]?.insert(name)
            }
        }
        return found
    }

    /// What is not as it should be.
    var problems: [String] {
        texts.sorted { $0.key < $1.key }.flatMap { problems(of: $0.key, $0.value) }
    }

    func problems(of page: String, _ text: String) -> [String] {
        brokenLinks(of: page, text) + missingPlaces(of: page, text) + missingTests(of: page, text)
            + (page.contains(".docc/") ? strayExamples(of: page, text) : [])
            + (Self.measures[page].map { Self.excess(of: page, text, over: $0) } ?? [])
            + (page == Self.claims ? Self.claimsWithoutTests(text) : [])
    }
}

// MARK: - Links

extension Pages {
    /// The links to files and headings that do not exist.
    func brokenLinks(of page: String, _ text: String) -> [String] {
        let prose = Self.withoutCode(text)
        let links = prose.matches(of: #/\]\(([^()\s]+)\)|src="([^"]+)"/#).map { String($0.1 ?? $0.2 ?? "") }
        return links.filter { !$0.contains(":") }.compactMap { link in
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? page : Self.path(parts[0], from: page)
            guard parts[0].isEmpty || places.contains(target) else {
                return "\(page) has a link to \(link), which does not exist"
            }
            guard parts.count == 2 else { return nil }
            let headings = (target == page ? text : texts[target]).map(Self.headings) ?? []
            return headings.contains(parts[1]) ? nil : "\(page) has a link to \(link), which has no such heading"
        }
    }

    /// The paths in backticks to files and folders that do not exist, such as `Tests/Whole`: from the package's folder
    /// on, or from the page's.
    func missingPlaces(of page: String, _ text: String) -> [String] {
        text.matches(of: #/`((?:Benchmarks|Documentation|Examples|Packaging|Scripts|Sources|Tests)/[\w@+.\/-]*)[` ]/#)
            .map { String($0.1.hasSuffix("/") ? $0.1.dropLast() : $0.1) }.filter {
                !places.contains($0) && !places.contains(Self.path($0, from: page))
            }
            .map { "\(page) names \($0), which does not exist" }
    }

    private static func path(_ link: String, from page: String) -> String {
        var folders = page.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { _ = folders.popLast() } else { folders.append(String(part)) }
        }
        return folders.joined(separator: "/")
    }

    /// The headings as GitHub names them in links.
    static func headings(of text: String) -> [String] {
        var times: [String: Int] = [:]
        return withoutBlocks(text).split(separator: "\n").compactMap { line in
            guard let heading = line.firstMatch(of: #/^\#{1,6} +(.+)$/#) else { return nil }
            let words = heading.1.replacing(#/\[([^\]]*)\]\([^)]*\)/#) { $0.1 }.lowercased()
            let slug = String(
                words.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 })
            defer { times[slug, default: 0] += 1 }
            return times[slug].map { "\(slug)-\($0)" } ?? slug
        }
    }

    /// The text without blocks between fences.
    private static func withoutBlocks(_ text: String) -> String {
        text.components(separatedBy: "```").enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            .joined(separator: "\n")
    }

    private static func withoutCode(_ text: String) -> String {
        withoutBlocks(text).replacing(#/`[^`]*`/#, with: "code")
    }
}

// MARK: - Tests

extension Pages {
    /// The names of tests in backticks that are in no test, such as `FloorTests.mistakesAreFound`.
    func missingTests(of page: String, _ text: String) -> [String] {
        text.matches(of: #/`([A-Z]\w*Tests)(?:[./](\w+))?`/#).compactMap { name in
            let suite = String(name.1)
            if let functions = suites[suite] {
                guard let test = name.2, !functions.contains(String(test)) else { return nil }
            } else if name.2 == nil, places.contains(where: { $0.hasPrefix("Tests/") && $0.hasSuffix("/\(suite)") }) {
                return nil
            }
            return "\(page) names the test \(name.0.dropFirst().dropLast()), which does not exist"
        }
    }

    /// The rows of the table of claims that name no test.
    static func claimsWithoutTests(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| promise |") }
            .filter { !$0.contains(#/Tests(\.\w+)?`[^|]*\|$/#) }.map { "\(claims) has a claim without a test: \($0)" }
    }
}

// MARK: - Examples

extension Pages {
    /// The examples of a sign that are on no page whose examples tests run.
    func strayExamples(of page: String, _ text: String) -> [String] {
        let run = texts.filter { $0.key == "README.md" || $0.key.hasPrefix("Documentation/Use/") }
        let examples = Set(run.values.flatMap(Self.examples))
        return Self.examples(of: text).filter { !examples.contains($0) }
            .map { "\(page) has an example that no page of Documentation/Use has: \($0.prefix(60))" }
    }

    private static func examples(of text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }
}

// MARK: - Length

extension Pages {
    /// What is longer than it may be: the page, a cell of a table, or a sentence.
    static func excess(of page: String, _ text: String, over measure: Measure) -> [String] {
        var found: [String] = []
        if text.utf8.count > measure.bytes {
            found.append("\(page) has \(text.utf8.count) bytes; it may have \(measure.bytes)")
        }
        let prose = withoutBlocks(text).replacing(#/\]\([^()\s]*\)/#, with: "]")
        var blocks = [""]
        for line in prose.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("|") {
                let cells = line.split(separator: "|").map(String.init)
                for cell in cells where words(of: cell) > measure.wordsOfACell {
                    found.append("\(page) has a cell of \(words(of: cell)) words: \(cell.prefix(60))")
                }
                blocks += cells
            } else if line.isEmpty || line.hasPrefix("#") || line.hasPrefix("    ") || line.hasPrefix("<") {
                blocks.append("")
            } else if let item = line.firstMatch(of: #/^ *([-*]|\d+\.) /#) {
                blocks.append(String(line[item.range.upperBound...]))
            } else {
                blocks[blocks.count - 1] += " " + line
            }
        }
        for sentence in blocks.flatMap(sentences) where words(of: sentence) > measure.wordsOfASentence {
            found.append("\(page) has a sentence of \(words(of: sentence)) words: \(sentence.prefix(60))")
        }
        return found
    }

    private static func sentences(of text: String) -> [String] {
        var found = [""]
        for word in text.split(whereSeparator: \.isWhitespace) {
            found[found.count - 1] += found[found.count - 1].isEmpty ? "\(word)" : " \(word)"
            if word.contains(#/[.!?]["')\]*]*$/#) { found.append("") }
        }
        return found
    }

    private static func words(of text: String) -> Int { text.split(whereSeparator: \.isWhitespace).count }
}
