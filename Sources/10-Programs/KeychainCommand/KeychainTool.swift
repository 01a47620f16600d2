import ArgumentParser
import KeychainDaemon

struct KeychainTool: DocumentedCommand {
    static let summary = "Keep passwords and other secrets in the keychain."
    static let details = """
        The keychain is a vault in a folder of your own: $KEYCHAIN_HOME, else $XDG_DATA_HOME/keychain, else \
        ~/.local/share/keychain. The first use makes it. You find a secret by its service (what it is for) and its \
        account (whose it is). Access groups keep the items of different programs apart; this tool sees every group.
        """
    static let examples = [
        Example("Store a secret, typed twice without echo", "keychain set mail.example.com alice"),
        Example("Use it in a script", "token=$(keychain get api.example.com ci)"),
        Example("See what there is", "keychain list"),
    ]

    static let configuration: CommandConfiguration = CommandConfiguration(
        commandName: "keychain",
        abstract: summary,
        discussion: helpText + ExitStatus.list,
        version: DaemonProgram.version,
        subcommands: [
            InitCommand.self, SetCommand.self, ChangeCommand.self, GetCommand.self, ListCommand.self, InfoCommand.self,
            DeleteCommand.self,
            HistoryCommand.self, RestorePasswordCommand.self, PurgeCommand.self, WatchCommand.self,
            InternetCommand.self, AWSCommand.self, KubeCommand.self,
            KeyCommand.self, FileCommand.self, MountCommand.self, UnmountCommand.self, DatabaseCommand.self,
            ImportCommand.self, ExportCommand.self, SendCommand.self, ReceiveCommand.self, RunCommand.self,
            AgentCommand.self, IntegrateCommand.self, CredentialCommand.self,
            PasscodeCommand.self, LockCommand.self, UnlockCommand.self, StatusCommand.self, AuditCommand.self,
            EntitlementsCommand.self, BackupCommand.self, EraseCommand.self, RecoveryCommand.self, RekeyCommand.self,
            SecurityCommand.self, ManualCommand.self,
        ])

    /// The subcommand of this name, found without making the words of all others.
    static func subcommand(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "get": GetCommand.self
        case "set": SetCommand.self
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
        case "init": InitCommand.self
        case "key": KeyCommand.self
        case "file": FileCommand.self
        case "mount": MountCommand.self
        case "unmount": UnmountCommand.self
        case "db": DatabaseCommand.self
        case "import": ImportCommand.self
        case "export": ExportCommand.self
        case "send": SendCommand.self
        case "receive": ReceiveCommand.self
        case "run": RunCommand.self
        case "ssh-agent": AgentCommand.self
        case "credential": CredentialCommand.self
        case "integrate": IntegrateCommand.self
        case "passcode": PasscodeCommand.self
        case "lock": LockCommand.self
        case "unlock": UnlockCommand.self
        case "status": StatusCommand.self
        case "audit": AuditCommand.self
        case "entitlements": EntitlementsCommand.self
        case "backup": BackupCommand.self
        case "erase": EraseCommand.self
        case "recovery": RecoveryCommand.self
        case "rekey": RekeyCommand.self
        case "security": SecurityCommand.self
        case "manual": ManualCommand.self
        default: nil
        }
    }
}
