import VaultKeys

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
        /// Letters with two values: a name, and what it is set to.
        var pairs = ""
        /// Letters whose value may be missing: it is what follows, unless that is an option.
        var optional = ""
        /// Whether options may follow the first operand.
        var operandFirst = false
    }

    enum Problem: Error, Equatable {
        case unknown(Character)
        case valueMissing(Character)
    }

    struct Option: Equatable {
        var letter: Character
        /// Nil for a flag, and for a promptable letter without a value.
        var value: String?
        /// What the name that is the value is set to.
        var setting: String?
    }

    private(set) var options: [Option] = []
    private(set) var operands: [String] = []

    init(_ arguments: [String], _ grammar: Grammar) throws(Problem) {
        var rest = arguments[...]
        if grammar.operandFirst, let first = rest.first, !first.hasPrefix("-") || first == "-" {
            operands.append(rest.removeFirst())
        }
        while let argument = rest.first, argument.hasPrefix("-"), argument.count > 1 {
            rest.removeFirst()
            if argument == "--" { break }
            try read(argument.dropFirst(), &rest, grammar)
        }
        operands += rest
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
            if grammar.optional.contains(letter) {
                let value = rest.first.flatMap { $0.hasPrefix("-") || !letters.isEmpty ? nil : $0 }
                if value != nil { rest.removeFirst() }
                options.append(Option(letter: letter, value: value))
                continue
            }
            let isPromptable = grammar.promptable.contains(letter)
            let isPair = grammar.pairs.contains(letter)
            guard isPromptable || isPair || grammar.values.contains(letter) else { throw .unknown(letter) }
            defer { if isPair, let setting = rest.popFirst() { options[options.count - 1].setting = setting } }
            if isPair, rest.count < (letters.isEmpty ? 2 : 1) { throw .valueMissing(letter) }
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

    /// The last value of the letter, which is the one that counts.
    func value(_ letter: Character) -> String? { options.last { $0.letter == letter }?.value }

    func values(_ letter: Character) -> [String] {
        options.filter { $0.letter == letter }.compactMap(\.value)
    }
}
