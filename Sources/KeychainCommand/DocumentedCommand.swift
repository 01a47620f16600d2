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
        let examples = examples.map { "  # \($0.purpose)\n  \($0.command.replacing("\n", with: "\n  "))" }
            .joined(separator: "\n")
        let exits = ExitStatus.documented.map { "  \($0.code)  \($0.meaning)" }.joined(separator: "\n")
        return "\(details)\n\nEXAMPLES:\n\(examples)\n\nEXIT STATUS:\n\(exits)"
    }

    static func documented(
        _ name: String, aliases: [String] = [], shouldDisplay: Bool = true
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: summary, discussion: discussion, shouldDisplay: shouldDisplay,
            aliases: aliases)
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
