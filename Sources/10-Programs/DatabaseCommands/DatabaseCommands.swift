import CommandKit

/// The commands about databases.
package enum DatabaseCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "db": DatabaseCommand.self
        default: nil
        }
    }
}
