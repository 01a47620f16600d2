import CommandKit

/// The commands about keys and certificates.
package enum KeyCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "key": KeyCommand.self
        case "cert": CertificateCommand.self
        case "import": ImportCommand.self
        case "export": ExportCommand.self
        case "ssh-agent": AgentCommand.self
        default: nil
        }
    }

    /// `import secret-service` and `import pass`: in the tree of commands, the operand of `import` takes the second
    /// word for a file.
    package static func importCommand(_ arguments: [String]) -> (any DocumentedCommand.Type)? {
        guard arguments.count > 1, arguments[0] == "import" else { return nil }
        switch arguments[1] {
        case ImportSecretServiceCommand.name: return ImportSecretServiceCommand.self
        case ImportPassCommand.name: return ImportPassCommand.self
        default: return nil
        }
    }
}
