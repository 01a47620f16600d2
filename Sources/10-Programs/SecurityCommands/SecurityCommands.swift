import CommandKit

/// The command for scripts of macOS.
package enum SecurityCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "security": SecurityCommand.self
        default: nil
        }
    }
}
