import Bytes

/// The help of a command, put in the order in which a person reads it: what it is for, how it is called, its options,
/// examples, and then the rest.
struct HelpPage {
    let text: String

    /// - Parameter written: What the argument parser writes.
    /// - Returns: Nil for anything else, such as a completion script.
    init?(_ written: String) {
        let start = "OVERVIEW: "
        guard written.hasPrefix(start) else { return nil }
        let (overview, usage) = Self.split(written.dropFirst(start.count), before: "\nUSAGE: ")
        let (about, statuses) = Self.split(overview, before: "\nEXIT STATUS:")
        let (prose, examples) = Self.split(about, before: "\nEXAMPLES:")
        let (summary, details) = Self.split(prose, before: "\n\n")
        let description = Self.trimmed(details)
        let parts = [
            // It was wrapped beside a word that is left out.
            Self.trimmed(summary).replacing("\n", with: " "), Self.trimmed(usage), Self.trimmed(examples),
            description.isEmpty ? "" : "DESCRIPTION:\n" + description, Self.trimmed(statuses),
        ]
        // The parser calls each group of commands subcommands.
        text = parts.filter { !$0.isEmpty }.joined(separator: "\n\n").replacing(" SUBCOMMANDS:\n", with: ":\n")
    }

    private static func split(_ text: Substring, before mark: String) -> (Substring, Substring) {
        guard let place = text.firstRange(of: mark) else { return (text, "") }
        return (text[..<place.lowerBound], text[place.lowerBound...])
    }

    /// Without empty lines around it.
    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0.isNewline }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}
