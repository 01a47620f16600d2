import ArgumentParser

/// The daemon's command line.
struct DaemonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Listen on this socket; systemd's, if it passes one.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The vault's folder.", valueName: "folder"))
    var home: String?

    @Option(help: ArgumentHelp("Who may use which access groups.", valueName: "file"))
    var entitlements: String?

    @Flag(help: "Give up all files but the vault's and the system's; executables cannot be told apart then.")
    var landlock = false

    @Flag(help: "Serve other users too, from /run/keychain/socket and /var/lib/keychain.")
    var system = false

    @Option(
        name: .customLong("lock-grace"),
        help: ArgumentHelp("How long a locked session leaves the vault unlocked.", valueName: "seconds"))
    var lockGrace = 10

    @Flag(
        name: .customLong("lock-signals"), inversion: .prefixedNo,
        help: "Lock with the session, before sleep, and at the end of the last session, as logind tells.")
    var lockSignals = true

    @Option(
        help: ArgumentHelp(
            "Requests a second that one program may make over time; 0 for any number.", valueName: "number"))
    var rate = 20_000

    @Option(help: ArgumentHelp("The most connections at a time.", valueName: "number"))
    var connections = 2048

    @Option(
        help: ArgumentHelp(
            "Write counts of requests and the time they took into this file every ten seconds, as Prometheus reads it.",
            valueName: "file"))
    var metrics: String?

    @Option(help: ArgumentHelp("What to log: error, notice, info or debug.", valueName: "level"))
    var log = "notice"
}
