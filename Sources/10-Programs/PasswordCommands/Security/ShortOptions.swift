/// The one-letter options of a subcommand of `security`, read as by BSD's getopt(3): letters may be joined, a value may
/// be attached or follow, and the first operand or `--` ends the options.
struct ShortOptions {
    /// The letters that a subcommand takes.
    struct Grammar {
        /// Letters that stand alone.
        var flags = ""
        /// Letters with a value.
        var values = ""
        /// Letters with a value. At the end of the command line the value may be missing, and is then asked for.
        var promptable = ""
    }

    enum Problem: Error, Equatable {
        case unknown(Character)
        case valueMissing(Character)
    }

    struct Option: Equatable {
        var letter: Character
        /// Nil for a flag, and for a promptable letter without a value.
        var value: String?
    }

    private(set) var options: [Option] = []
    private(set) var operands: [String] = []

    init(_ arguments: [String], _ grammar: Grammar) throws(Problem) {
        var rest = arguments[...]
        while let argument = rest.first, argument.hasPrefix("-"), argument.count > 1 {
            rest.removeFirst()
            if argument == "--" { break }
            try read(argument.dropFirst(), &rest, grammar)
        }
        operands = Array(rest)
    }

    private mutating func read(
        _ letters: Substring, _ rest: inout ArraySlice<String>, _ grammar: Grammar
    ) throws(Problem) {
        var letters = letters
        while let letter = letters.popFirst() {
            if grammar.flags.contains(letter) {
                options.append(Option(letter: letter, value: nil))
                continue
            }
            let isPromptable = grammar.promptable.contains(letter)
            guard isPromptable || grammar.values.contains(letter) else { throw .unknown(letter) }
            if !letters.isEmpty {
                options.append(Option(letter: letter, value: String(letters)))
            } else if let next = rest.popFirst() {
                options.append(Option(letter: letter, value: next))
            } else if isPromptable {
                options.append(Option(letter: letter, value: nil))
            } else {
                throw .valueMissing(letter)
            }
            return
        }
    }

    func contains(_ letter: Character) -> Bool {
        options.contains { $0.letter == letter }
    }
}
