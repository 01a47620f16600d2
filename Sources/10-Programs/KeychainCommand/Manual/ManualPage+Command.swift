import Bytes
import CommandKit

extension ManualPage {
    /// The page of a command of `keychain`.
    init(command: any DocumentedCommand.Type, help: HelpTree.Command, path: [String], seeAlso: [String]) {
        self.init(
            help: help, path: path, summary: command.summary, details: command.details,
            exitStatus: ExitStatus.documented.map {
                Entry(tag: Mdoc.text($0.code.trimmed), lines: [Mdoc.line($0.meaning)])
            },
            environment: [
                Entry(
                    tag: "Ev KEYCHAIN_HOME",
                    lines: ["The folder of the vault. It has to belong to the user and be closed to others."]),
                Entry(
                    tag: "Ev XDG_DATA_HOME",
                    lines: [
                        "Where the folder is otherwise, as", ".Pa keychain .", "The default is", ".Pa ~/.local/share .",
                    ]),
            ],
            examples: command.examples, seeAlso: seeAlso.map { ($0, 1) })
    }
}
