import CommandKit

/// The commands about passwords.
package enum PasswordCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "get": GetCommand.self
        case "set": SetCommand.self
        case "copy", "cp": CopyCommand.self
        case "empty-clipboard": ClipboardCommand.self
        case "edit": EditCommand.self
        case "generate": GenerateCommand.self
        case "otp": OneTimeCommand.self
        case "find", "search": FindCommand.self
        case "rename", "mv": RenameCommand.self
        case "change": ChangeCommand.self
        case "list", "ls": ListCommand.self
        case "info": InfoCommand.self
        case "delete", "rm": DeleteCommand.self
        case "history": HistoryCommand.self
        case "restore": RestorePasswordCommand.self
        case "purge": PurgeCommand.self
        case "watch": WatchCommand.self
        case "internet": InternetCommand.self
        case "aws": AWSCommand.self
        case "kube": KubeCommand.self
        default: nil
        }
    }

    /// Does what `keychain get SERVICE ACCOUNT` does, without the argument parser.
    package static func get(_ service: String, _ account: String) throws {
        try GetCommand.run(PasswordSearch(service: service, account: account))
    }
}
