import CommandKit

/// The commands that take the whole screen of a terminal.
package enum ScreenCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "ui": ScreenCommand.self
        default: nil
        }
    }
}
