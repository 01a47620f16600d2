import ArgumentParser
import CommandKit

/// Where the words of a command line lead in the tree of commands.
struct CommandPlace {
    /// The names of the commands, each after a space, such as ` cert list`.
    private(set) var path = ""
    private var subcommands = KeychainTool.configuration.subcommands
    /// The first word that is no command.
    private var rest: String?

    init(_ words: ArraySlice<String>) {
        for word in words {
            let command = subcommands.first {
                $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let command else {
                rest = word
                return
            }
            path += " \(command.configuration.commandName ?? word)"
            subcommands = command.configuration.subcommands
        }
    }

    /// What to say if a command of a group was meant and does not exist; nil if the words end before, or if the last
    /// command has no others below it.
    var noCommand: Failure? {
        guard let rest, !rest.hasPrefix("-"), !subcommands.isEmpty else { return nil }
        return KeychainTool.noCommand(rest, after: path, among: subcommands.compactMap { $0.configuration.commandName })
    }
}
