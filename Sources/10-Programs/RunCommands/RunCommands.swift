import CommandKit

/// The commands that give secrets to other programs.
package enum RunCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "run": RunCommand.self
        case "mcp": McpCommand.self
        case "broker": BrokerCommand.self
        case "token": TokenCommand.self
        case "token-keeper": TokenKeeperCommand.self
        case "credential": CredentialCommand.self
        case "integrate": IntegrateCommand.self
        default: nil
        }
    }
}
