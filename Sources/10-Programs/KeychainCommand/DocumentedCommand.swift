import ArgumentParser

/// A command whose help text and manual page come from the same words.
protocol DocumentedCommand: ParsableCommand {
    static var summary: String { get }
    /// Paragraphs separated by empty lines.
    static var details: String { get }
    static var examples: [Example] { get }
}

/// A command to copy. What does not fit a terminal of 80 columns goes on after a backslash and a newline, since help
/// that is wrapped anywhere else breaks when it is pasted.
struct Example {
    let purpose: String
    let command: String

    init(_ purpose: String, _ command: String) {
        self.purpose = purpose
        self.command = command
    }
}

extension DocumentedCommand {
    static var discussion: String {
        // This text is made at every start, so it is made cheaply.
        var text = details + "\n\nEXAMPLES:"
        for example in examples {
            text += "\n  # " + example.purpose
            for line in example.command.split(separator: "\n", omittingEmptySubsequences: false) {
                text += "\n  "
                text += line
            }
        }
        text += "\n\nEXIT STATUS:"
        for exit in ExitStatus.documented { text += "\n  " + exit.code + "  " + exit.meaning }
        return text
    }

    static func documented(
        _ name: String, aliases: [String] = [], shouldDisplay: Bool = true,
        subcommands: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        // The parser looks for requests for completion scripts in each command without a parent, which takes longer than
        // everything else it does. The parameter is not documented: without it `keychain` is slower, and does the same.
        CommandConfiguration(
            commandName: name, _superCommandName: "keychain", abstract: summary, discussion: discussion,
            shouldDisplay: shouldDisplay, subcommands: subcommands, aliases: aliases)
    }
}

/// The exit statuses that scripts may rely on. The ones that stand for a status of Apple's are its low
/// byte, as with `security`.
enum ExitStatus {
    static let other: Int32 = 1
    static let usage: Int32 = 64

    static let documented: [(code: String, meaning: String)] = [
        (" 0", "done"),
        (" 1", "any failure without a number of its own"),
        ("36", "locked, or nobody can be asked (errSecInteractionNotAllowed)"),
        ("44", "no such item (errSecItemNotFound)"),
        ("45", "the item exists already (errSecDuplicateItem)"),
        ("51", "authentication failed (errSecAuthFailed)"),
        ("64", "the command line makes no sense (EX_USAGE)"),
    ]

    /// The exit status of a command of `keychain` that failed with `status`.
    static func code(for status: Int32) -> Int32 {
        let low = status & 0xFF
        return [36, 44, 45, 51].contains(low) && status < -25_000 && status > -26_000 ? low : other
    }
}
