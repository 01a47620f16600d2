import ArgumentParser
import CommandKit
import FoundationEssentials
import PasswordGeneration

/// Prints a new password.
struct GenerateCommand: DocumentedCommand {
    static let summary = "Make up a password or a passphrase, and print it."
    static let details = """
        All choices are random and equally likely. On a terminal, a line says how many bits that is: the logarithm to \
        base 2 of how many passwords could have come. 77 bits are enough for anything; 50 are for what limits guesses.

        Nothing is stored: `keychain set --generate` makes a password and stores it, and nobody sees it.

        The words are those of the EFF's long list.
        """
    static let examples = [
        Example("20 characters", "keychain generate"),
        Example("A passphrase to type", "keychain generate --words 6"),
        Example("A PIN", "keychain generate --digits --length 6"),
        Example("For a place that refuses symbols", "keychain generate --no-symbols --length 32"),
        Example("Made and stored in one step", "keychain set db.example.com app --generate"),
    ]
    static let configuration: CommandConfiguration = documented("generate")

    @OptionGroup var recipe: RecipeOptions

    @Option(help: ArgumentHelp("How many passwords, one in a line: 1 to 1000.", valueName: "number"))
    var count = 1

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var passwords: [String]
        var entropyBits: Double
    }

    func validate() throws {
        guard (1...1_000).contains(count) else { throw ValidationError("--count takes 1 to 1000") }
    }

    func run() throws {
        let recipe = recipe.recipe
        let passwords = try (0..<count).map { _ in try recipe.password() }
        let bits = (recipe.entropy * 10).rounded(.down) / 10
        if json { return try StandardOutput.write(json: Answer(passwords: passwords, entropyBits: bits)) }
        try StandardOutput.write(line: passwords.joined(separator: "\n"))
        if StandardOutput.isTerminal { CommandNote.show("\(bits) bits") }
    }
}
