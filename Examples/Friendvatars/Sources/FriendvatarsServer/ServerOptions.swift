import ArgumentParser

/// What the command line says.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder for all that is kept, made if it is not there; else $FRIENDVATARS_DATA, else friendvatars-data.",
            valueName: "folder"))
    var data: String?

    @Option(help: ArgumentHelp("The address to listen at; else 127.0.0.1, this machine alone.", valueName: "address"))
    var host: String?

    @Option(help: ArgumentHelp("The port, 0 for any that is free; else 8443.", valueName: "number"))
    var port: Int?

    @Option(help: "The name that people reach the server by, for its certificate; else localhost.")
    var name: String?

    @Flag(help: "Without TLS: for this machine alone, or behind a proxy that has TLS.")
    var plain = false

    @Flag(help: "A proxy with TLS is in front, and says in X-Forwarded-For where requests come from; with --plain.")
    var behindProxy = false

    @Option(help: ArgumentHelp("Seconds that a request may take to come in; else 20.", valueName: "seconds"))
    var patience: Int?

    @Option(
        help: ArgumentHelp(
            "Where avatars come from, with {hash} in it, or 'none' to generate all of them; else Gravatar.",
            valueName: "url"))
    var avatars: String?

    @Option(help: "Which hash of an address the service wants: sha256 or md5; else sha256.")
    var hash: String?

    func validate() throws {
        if behindProxy, !plain {
            throw ValidationError("--behind-proxy is for a server with --plain: the proxy has TLS.")
        }
    }
}
