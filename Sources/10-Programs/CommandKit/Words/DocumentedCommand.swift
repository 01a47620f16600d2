import ArgumentParser

/// A command whose help text and manual page come from the same words.
package protocol DocumentedCommand: ParsableCommand {
    static var summary: String { get }
    /// Paragraphs separated by empty lines.
    static var details: String { get }
    static var examples: [Example] { get }
}

/// A command to copy. If it does not fit a terminal of 80 columns, it is broken after a backslash: a command that the
/// help wraps anywhere else breaks when it is pasted.
package struct Example {
    package let purpose: String
    package let command: String

    package init(_ purpose: String, _ command: String) {
        self.purpose = purpose
        self.command = command
    }
}

/// The commands of one module.
package protocol CommandModule {
    /// Returns the command with this name or alias; nil if this module has none. Builds no help texts.
    static func command(named name: String) -> (any DocumentedCommand.Type)?
}

extension DocumentedCommand {
    package static var discussion: String {
        helpText + "\n\nEXIT STATUS: `keychain help` lists the exit statuses of all commands."
    }

    /// What the command does, and examples.
    package static var helpText: String {
        // This text is made at every start, so it is made cheaply.
        var text = details + "\n\nEXAMPLES:"
        for example in examples {
            text += "\n  # " + example.purpose
            for line in example.command.split(separator: "\n", omittingEmptySubsequences: false) {
                text += "\n  "
                text += line
            }
        }
        return text
    }

    package static func documented(
        _ name: String, aliases: [String] = [], shouldDisplay: Bool = true,
        subcommands: [any ParsableCommand.Type] = [], defaultSubcommand: (any ParsableCommand.Type)? = nil
    ) -> CommandConfiguration {
        // In a command without a parent, the parser looks for requests for completion scripts, which takes longer than
        // everything else that it does. The parameter is not documented: without it `keychain` is only slower.
        CommandConfiguration(
            commandName: name, _superCommandName: "keychain", abstract: summary, discussion: discussion,
            shouldDisplay: shouldDisplay, subcommands: subcommands, defaultSubcommand: defaultSubcommand,
            aliases: aliases)
    }
}

extension ArgumentHelp {
    /// Of the flag `--json` of commands that have a result to print.
    package static var json: ArgumentHelp { "Print the result, and any error, as JSON." }
    /// Of the flag `--json` of commands whose output has another form, or that print nothing.
    package static var jsonErrors: ArgumentHelp { "Print any error as JSON." }
}

/// The exit statuses that scripts may rely on. Those that stand for a status of Apple's are its low byte, as with
/// `security`.
package enum ExitStatus {
    package static let other: Int32 = 1
    package static let usage: Int32 = 64
    package static let damaged: Int32 = 65
    package static let unreachable: Int32 = 69

    package static let documented: [(code: String, meaning: String)] = [
        (" 0", "done"),
        (" 1", "any failure without a number of its own"),
        ("36", "locked, or nobody can be asked (errSecInteractionNotAllowed)"),
        ("44", "no such item (errSecItemNotFound)"),
        ("45", "the item exists already (errSecDuplicateItem)"),
        ("51", "authentication failed (errSecAuthFailed)"),
        ("64", "the command line makes no sense (EX_USAGE)"),
        ("65", "status --check: damaged, or the device secret is lost; backup: damaged items (EX_DATAERR)"),
        ("69", "status --check: the vault cannot be reached (EX_UNAVAILABLE)"),
    ]

    /// The section of the help that lists them.
    package static var list: String {
        documented.reduce(into: "\n\nEXIT STATUS:") { $0 += "\n  " + $1.code + "  " + $1.meaning }
    }

    /// The exit status of a command of `keychain` that failed with `status`.
    package static func code(for status: Int32) -> Int32 {
        let low = status & 0xFF
        return [36, 44, 45, 51].contains(low) && status < -25_000 && status > -26_000 ? low : other
    }
}
