import ArgumentParser

/// The daemon's command line.
struct DaemonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Listen on this socket. A socket that systemd passes takes precedence.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The vault's folder.", valueName: "folder"))
    var home: String?

    @Option(help: ArgumentHelp("The file that says who may use which access groups.", valueName: "file"))
    var entitlements: String?

    @Flag(help: "Give up access to all files but the vault's and the system's. Executables cannot be told apart then.")
    var landlock = false

    @Flag(help: "Serve other users too, from /run/keychain/socket and /var/lib/keychain.")
    var system = false

    @Flag(
        name: .customLong("secret-service"),
        help: ArgumentHelp(
            "Serve programs that keep secrets with a desktop's Secret Service, from the socket `bus` beside the "
                + "daemon's own. They find it in DBUS_SESSION_BUS_ADDRESS."))
    var secretService = false

    @Flag(
        name: .customLong("session-bus"),
        help: "Serve the programs on the session bus, too, under the name org.freedesktop.secrets.")
    var sessionBus = false

    @Flag(
        help: ArgumentHelp(
            "Give credentials to units of systemd, from the socket `credentials` beside the daemon's own, which "
                + "LoadCredential= names."))
    var credentials = false

    @Flag(help: "Take that name from its owner, if the owner allows it.")
    var replace = false

    @Option(
        name: .customLong("unlock-wait"),
        help: ArgumentHelp(
            "How long such a program waits for somebody to unlock the vault, when it asks for that.",
            valueName: "seconds"))
    var unlockWait = 30

    @Option(
        name: .customLong("lock-grace"),
        help: ArgumentHelp("How long the vault stays unlocked after the session is locked.", valueName: "seconds"))
    var lockGrace = 10

    @Flag(
        name: .customLong("lock-signals"), inversion: .prefixedNo,
        help: "Lock with the session, before sleep, and at the end of the last session, as logind reports.")
    var lockSignals = true

    @Option(
        help: ArgumentHelp(
            "Requests per second that one program may make on average while others are served. 0 turns the limit off, "
                + "and with it the wait after refusals.",
            valueName: "number"))
    var rate = 10_000

    @Option(help: ArgumentHelp("The largest number of connections at a time.", valueName: "number"))
    var connections = 2048

    @Option(
        help: ArgumentHelp(
            "Write the number of requests and the time they took to this file every ten seconds, for Prometheus.",
            valueName: "file"))
    var metrics: String?

    @Flag(
        name: .customLong("end-when-locked"),
        help: ArgumentHelp(
            "Serve a keychain that `security unlock-keychain` unlocked: lock it as its settings say, and end then."))
    var endsWhenLocked = false

    @Option(help: ArgumentHelp("What to log: error, notice, info or debug.", valueName: "level"))
    var log = "notice"
}
