import ArgumentParser
import CommandKit

/// A manual page in mdoc(7), made from the same words as a command's help.
struct ManualPage {
    struct Entry {
        /// In mdoc.
        var tag: String
        var lines: [String]
    }

    var help: HelpTree.Command
    /// The command's name and those of the commands above it.
    var path: [String]
    var section = 1
    var summary: String
    /// Paragraphs separated by empty lines.
    var details: String
    var exitStatus: [Entry]
    var environment: [Entry]
    var files: [Entry] = []
    var examples: [Example]
    /// Each with its section.
    var seeAlso: [(name: String, section: Int)]

    /// When the words were last changed. A fixed date makes the same program write the same pages.
    private static let date = "November 22, 2026"

    var name: String { path.joined(separator: "-") }
    var fileName: String { "\(name).\(section)" }

    var source: String {
        var lines = [
            ".Dd \(Self.date)", ".Dt \(Mdoc.text(name.uppercased())) \(section)", ".Os",
            ".Sh NAME", ".Nm \(Mdoc.text(name))",
            ".Nd \(Mdoc.text(lowercasedFirst(summary)))",
            ".Sh SYNOPSIS",
        ]
        lines += synopsis
        lines.append(".Sh DESCRIPTION")
        lines += Mdoc.paragraphs(details)
        lines += subcommands
        lines += options
        lines += entries("EXIT STATUS", exitStatus) + entries("ENVIRONMENT", environment) + entries("FILES", files)
        lines.append(".Sh EXAMPLES")
        for example in examples {
            lines += [".Pp", Mdoc.line(example.purpose + ":")]
            lines += example.command.split(separator: "\n").map { ".Dl \(Mdoc.text(String($0)))" }
        }
        lines.append(".Sh SEE ALSO")
        for (index, page) in seeAlso.enumerated() {
            lines.append(".Xr \(Mdoc.text(page.name)) \(page.section)" + (index == seeAlso.count - 1 ? "" : " ,"))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func lowercasedFirst(_ sentence: String) -> String {
        let text = sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    private var synopsis: [String] {
        var lines = [".Nm \(Mdoc.text(path.joined(separator: " ")))"]
        if !help.visibleSubcommands.isEmpty { return lines + [".Ar subcommand", ".Op Ar argument ..."] }
        for argument in help.visibleArguments {
            let form = argument.synopsis
            lines.append(argument.isOptional ? ".Op \(form)" : ".\(form)")
        }
        return lines
    }

    private var subcommands: [String] {
        let visible = help.visibleSubcommands
        guard !visible.isEmpty else { return [] }
        return [".Ss Subcommands", ".Bl -tag -width Ds"]
            + visible.flatMap { [".It Cm \(Mdoc.text($0.commandName))", Mdoc.line($0.abstract ?? "")] } + [".El"]
    }

    private var options: [String] {
        let visible = help.visibleArguments
        guard !visible.isEmpty else { return [] }
        return [".Ss Arguments and options", ".Bl -tag -width Ds"]
            + visible.flatMap { argument in
                var text = [".It \(argument.tag)", Mdoc.line(argument.abstract ?? "")]
                if let values = argument.allValues, !values.isEmpty {
                    text.append(Mdoc.line("One of: \(values.joined(separator: ", "))."))
                }
                return text
            } + [".El"]
    }

    private func entries(_ title: String, _ entries: [Entry]) -> [String] {
        guard !entries.isEmpty else { return [] }
        return [".Sh \(title)", ".Bl -tag -width Ds"] + entries.flatMap { [".It \($0.tag)"] + $0.lines } + [".El"]
    }
}

extension HelpTree.Argument {
    /// How the argument looks in a synopsis, in mdoc macros.
    fileprivate var synopsis: String {
        let repetition = isRepeating ? " ..." : ""
        guard let name = preferredName?.spelling else { return "Ar \(Mdoc.text(valueName ?? "argument"))\(repetition)" }
        return "Fl \(Mdoc.flag(name))" + (kind == "option" ? " Ar \(Mdoc.text(valueName ?? "value"))" : "") + repetition
    }

    /// All names of the argument, in mdoc macros.
    fileprivate var tag: String {
        guard let names, !names.isEmpty else { return "Ar \(Mdoc.text(valueName ?? "argument"))" }
        return names.map { "Fl \(Mdoc.flag($0.spelling))" }.joined(separator: " , ")
            + (kind == "option" ? " Ar \(Mdoc.text(valueName ?? "value"))" : "")
    }
}

/// Escapes text for mdoc.
enum Mdoc {
    /// As an argument of a macro.
    static func text(_ string: String) -> String {
        var result = ""
        for character in string {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\"": result += "\\(dq"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            default: result.append(character)
            }
        }
        return result
    }

    /// A flag without its first dash, which `.Fl` prints.
    static func flag(_ spelling: String) -> String { text(String(spelling.dropFirst())) }

    /// As a line of its own, on which a dot at the start is not a macro.
    static func line(_ string: String) -> String {
        let escaped = text(string)
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }

    static func paragraphs(_ text: String) -> [String] {
        let paragraphs = text.split(separator: "\n\n").map { line(String($0).replacing("\n", with: " ")) }
        return Array(paragraphs.map { [$0] }.joined(separator: [".Pp"]))
    }
}
