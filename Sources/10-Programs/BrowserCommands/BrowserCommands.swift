import CommandKit

/// The commands about browsers.
package enum BrowserCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "browser": BrowserCommand.self
        case "browser-host": HostCommand.self
        default: nil
        }
    }
}
