import ArgumentParser
import CommandKit
import PasswordGeneration

/// How a new password is made up.
struct RecipeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Characters of the password: 4 to 1024.", valueName: "number"))
    var length: Int?

    @Option(help: ArgumentHelp("Make a passphrase of this many words: 1 to 64. Six are 77 bits.", valueName: "number"))
    var words: Int?

    @Option(
        help: ArgumentHelp(
            "Make groups of five letters that can be spoken, this many: 1 to 64. Five are 80 bits.",
            valueName: "number"))
    var pronounceable: Int?

    @Option(help: ArgumentHelp("What stands between words.", valueName: "text"))
    var separator: String?

    @Flag(name: .customLong("no-symbols"), help: "Letters and digits only.")
    var noSymbols = false

    @Flag(help: "Digits only.")
    var digits = false

    @Flag(
        name: .customLong("no-similar"),
        help: "Leave out what looks alike when it is copied by hand, such as 0 and O.")
    var noSimilar = false

    init() {}

    func validate() throws {
        let kinds = [words != nil, pronounceable != nil, length != nil || noSymbols || digits || noSimilar]
        guard kinds.count(where: \.self) <= 1 else {
            throw ValidationError("--words, --pronounceable and the options for characters exclude each other")
        }
        guard !(noSymbols && digits) else { throw ValidationError("--no-symbols and --digits exclude each other") }
        guard separator == nil || words != nil else { throw ValidationError("--separator goes with --words") }
        do throws(PasswordRecipeError) {
            _ = try recipe.password()
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Whether one of the options is given.
    var isGiven: Bool {
        length != nil || words != nil || pronounceable != nil || separator != nil || noSymbols || digits || noSimilar
    }

    var recipe: PasswordRecipe {
        if let words { return .words(words, separator: separator ?? "-") }
        if let pronounceable { return .pronounceable(pronounceable) }
        let kinds: Set<PasswordRecipe.Kind> =
            digits ? [.digits] : noSymbols ? [.small, .capitals, .digits] : Set(PasswordRecipe.Kind.allCases)
        return .characters(length ?? 20, kinds, withoutSimilar: noSimilar)
    }
}
