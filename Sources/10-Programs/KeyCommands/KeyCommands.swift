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

    /// `import secret-service`: in the tree of commands, the operand of `import` takes the second word for a file.
    package static let importSecretService: (words: [String], command: any DocumentedCommand.Type) = (
        ["import", ImportSecretServiceCommand.name], ImportSecretServiceCommand.self
    )
}
