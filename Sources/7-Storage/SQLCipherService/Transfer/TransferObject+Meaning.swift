extension TransferObject {
    /// Returns the reason why an older SQLite would interpret the statement differently; nil if it would not.
    ///
    /// TRUE and FALSE are values since SQLite 3.23. Before, they were names, and a name as a default value is a text.
    func changedMeaning(in engine: TransferEngine) -> String? {
        guard !engine.isAtLeast(minor: 23) else { return nil }
        guard let word = sql.bareWords.first(where: { ["true", "false"].contains($0.lowercased()) }) else { return nil }
        return "its SQLite reads \(word) as a name, write \(word.lowercased() == "true" ? 1 : 0)"
    }
}

extension String {
    /// The words of an SQL statement outside of quotes and comments.
    var bareWords: [Substring] {
        var words: [Substring] = []
        var rest = self[...]
        /// Drops everything up to and including `end`.
        func skip(to end: String) {
            while !rest.isEmpty, !rest.hasPrefix(end) { rest = rest.dropFirst() }
            rest = rest.dropFirst(end.count)
        }
        while let first = rest.first {
            if rest.hasPrefix("--") {
                skip(to: "\n")
            } else if rest.hasPrefix("/*") {
                skip(to: "*/")
            } else if let end = ["'": "'", "\"": "\"", "`": "`", "[": "]"][first] {
                // A doubled quote ends one text and begins another.
                rest = rest.dropFirst()
                skip(to: end)
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                words.append(word)
                rest = rest[word.endIndex...]
            } else {
                rest = rest.dropFirst()
            }
        }
        return words
    }
}
