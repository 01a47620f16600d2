import CommandKit

/// The commands about files.
package enum FileCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "file": FileCommand.self
        case "mount": MountCommand.self
        case "unmount": UnmountCommand.self
        default: nil
        }
    }
}
