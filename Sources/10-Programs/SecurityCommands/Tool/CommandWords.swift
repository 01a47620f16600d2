/// The words of a line of `security -i`, split as by a shell: blanks separate words, and quotation marks and
/// backslashes protect blanks.
struct CommandWords {
    private(set) var words: [String] = []

    /// Returns nil if a quotation mark is not closed.
    init?(_ line: String) {
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " || character == "\t" {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let finished = word { words.append(finished) }
    }
}
