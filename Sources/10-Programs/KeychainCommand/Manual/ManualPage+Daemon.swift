import CommandKit
import FoundationEssentials

extension ManualPage {
    /// The page of a program that describes itself: its module has its command line.
    ///
    /// - Returns: Nil for another program than `keychaind` and `keychain-sync`.
    init?(daemon help: HelpTree.Command) {
        switch help.commandName {
        case "keychaind": self.init(keychaind: help)
        case "keychain-sync": self.init(sync: help)
        default: return nil
        }
    }

    private init(sync help: HelpTree.Command) {
        self.init(
            help: help, path: [help.commandName], section: 8, summary: help.abstract ?? "",
            details: (help.discussion ?? "").components(separatedBy: "\n\nEXAMPLES").first ?? "",
            exitStatus: [
                Entry(tag: "0", lines: ["stopped by a signal; with", ".Fl Fl once :", "nothing is left to do"]),
                Entry(tag: "64", lines: ["the command line makes no sense (EX_USAGE)"]),
                Entry(tag: "other", lines: ["an error, as", ".Xr keychain 1", "has it"]),
            ],
            environment: [
                Entry(tag: "Ev KEYCHAIN_HOME", lines: ["The folder of the vault, if no daemon has it."]),
                Entry(tag: "Ev KEYCHAIN_SOCKET", lines: ["The socket of the daemon that has the vault."]),
                Entry(
                    tag: "Ev CREDENTIALS_DIRECTORY , NOTIFY_SOCKET",
                    lines: ["What systemd hands over: etcd's password, and where to report."]),
            ],
            files: [
                Entry(tag: "Pa /etc/default/keychain-sync", lines: ["The options of the system's unit."]),
                Entry(tag: "Pa ~/.config/keychain/sync", lines: ["The options of a user's unit."]),
            ],
            examples: [
                Example(
                    "All the time, with a certificate of the keychain",
                    "keychain-sync --authority /etc/etcd/ca.pem --certificate sync.example.com"),
                Example(
                    "Once, with a user of etcd", "keychain-sync --once --user web --password-file /run/secrets/etcd"),
            ],
            seeAlso: [("keychain", 1), ("keychain-circle", 1), ("keychaind", 8)])
    }

    private init(keychaind help: HelpTree.Command) {
        var help = help
        // A pair such as --lock-signals and --no-lock-signals has one description, that of the first.
        help.arguments = help.arguments?.map { argument in
            guard let name = argument.preferredName, name.kind == "long", name.name.hasPrefix("no-") else {
                return argument
            }
            var negated = argument
            negated.abstract = "The opposite of --\(name.name.dropFirst(3))."
            return negated
        }
        self.init(
            help: help, path: [help.commandName], section: 8, summary: help.abstract ?? "",
            // The examples that follow have a section of their own.
            details: (help.discussion ?? "").components(separatedBy: "\n\nFor example").first ?? "",
            exitStatus: [
                Entry(tag: "0", lines: ["stopped by a signal, after the requests under way were answered"]),
                Entry(tag: "1", lines: ["it could not start; the log says why"]),
                Entry(tag: "64", lines: ["the command line makes no sense (EX_USAGE)"]),
            ],
            environment: [
                Entry(tag: "Ev KEYCHAIN_HOME", lines: ["The folder of the vault, unless an option says otherwise."]),
                Entry(
                    tag: "Ev XDG_RUNTIME_DIR , XDG_DATA_HOME , XDG_CONFIG_HOME",
                    lines: ["Where the socket, the vault and the entitlements are, each under", ".Pa keychain ."]),
                Entry(
                    tag: "Ev LISTEN_FDS , LISTEN_FDNAMES , LISTEN_PID , NOTIFY_SOCKET , CREDENTIALS_DIRECTORY",
                    lines: ["What systemd hands over: the sockets, where to report, and the passcode."]),
                Entry(
                    tag: "Ev WATCHDOG_USEC , WATCHDOG_PID , JOURNAL_STREAM",
                    lines: ["How often systemd wants to hear of the daemon, and whether its journal has the log."]),
            ],
            files: [
                Entry(tag: "Pa $XDG_RUNTIME_DIR/keychain/socket", lines: ["The socket for the programs of a user."]),
                Entry(
                    tag: "Pa $XDG_RUNTIME_DIR/keychain/bus",
                    lines: ["The socket that programs take for their session bus, to use a Secret Service."]),
                Entry(
                    tag: "Pa ~/.config/keychain/entitlements.json",
                    lines: ["Which program may use which access groups."]),
                Entry(
                    tag: "Pa /run/keychain/socket , /var/lib/keychain , /etc/keychain/entitlements.json",
                    lines: ["The same and the vault for", Mdoc.line("--system.")]),
            ],
            examples: [
                Example(
                    "Serve a vault of its own, to try it", "keychaind --socket /tmp/try/socket --home /tmp/try/vault"),
                Example(
                    "For one user, when the first program needs it", "systemctl --user enable --now keychaind.socket"),
            ],
            seeAlso: [("keychain", 1)])
    }
}
