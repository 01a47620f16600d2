import ArgumentParser
import AsyncHTTPClient
import Configuration
import Credentials
import Foundation
import FriendvatarsKit
import FriendvatarsWeb
import KeychainConfiguration
import Logging

/// Serves the app.
@main
struct FriendvatarsServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "friendvatars", abstract: "Serve Friendvatars: people sign in and see their friends.",
        discussion: """
            All that the app keeps is in one folder: a vault, an encrypted database, and pictures in protected files. \
            Options can be set in the environment as well, as FRIENDVATARS_PORT and so on, or in the vault, as passwords of \
            the service org.example.friendvatars with accounts such as friendvatars.avatars.

            Example: friendvatars --data ~/friendvatars --port 8443
            """)

    @Option(
        help:
            "The folder for all that is kept, made if it is not there; else $FRIENDVATARS_DATA, else friendvatars-data."
    )
    var data: String?

    @Option(help: "The address to listen at.")
    var host: String?

    @Option(help: "The port; 0 for any that is free.")
    var port: Int?

    @Option(help: "The name that people reach the server by, for its certificate.")
    var name: String?

    @Flag(help: "Without TLS: for this machine alone, or behind a proxy that has TLS.")
    var plain = false

    @Flag(help: "A proxy with TLS is in front, and says in X-Forwarded-For where requests come from; with --plain.")
    var behindProxy = false

    @Option(help: "Seconds that a request may take to come in.")
    var patience: Int?

    @Option(
        help: ArgumentHelp(
            "Where avatars come from, with {hash} in it; 'none' to generate all of them.", valueName: "url"))
    var avatars: String?

    @Option(help: "Which hash of an address the service wants: sha256 or md5.")
    var hash: String?

    func run() async throws {
        let folder = try DataFolder(DataFolder.location(named: data))
        // The address of a service can have a key in it, which is better in the keychain than in the environment.
        let config = ConfigReader(providers: [
            EnvironmentVariablesProvider(), KeychainProvider(service: "org.example.friendvatars"),
        ]).scoped(to: "friendvatars")
        var logger = Logger(label: "friendvatars")
        logger.logLevel = .notice

        var options = WebServer.Options()
        options.host = host ?? config.string(forKey: "host", default: options.host)
        options.port = port ?? config.int(forKey: "port", default: options.port)
        options.isBehindProxy = behindProxy
        options.patience = (patience ?? config.int(forKey: "patience", default: options.patience))
        if !plain {
            options.tls = try await TLSIdentity(for: name ?? config.string(forKey: "name", default: "localhost"))
        }

        let address = avatars ?? config.string(forKey: "avatars", default: AvatarService.gravatar)
        let form = hash ?? config.string(forKey: "hash", default: AvatarHashForm.sha256.rawValue)
        guard let hashForm = AvatarHashForm(rawValue: form) else {
            throw ValidationError("There is no hash \(form); use sha256 or md5.")
        }
        let client = AvatarService.makeClient()
        let service = AvatarService(address: address, form: hashForm, client: client)
        guard service != nil || address == "none" else {
            throw ValidationError(
                "\(address) is no address of avatars; it has {hash} in it, such as \(AvatarService.gravatar)")
        }
        let app = try await FriendvatarsApp(in: folder, service: service)
        let server = WebServer(app, options: options, logger: logger)
        let (scheme, host, tls) = (plain ? "http" : "https", options.host, options.tls)
        do {
            try await server.run { port in
                print("Friendvatars is at \(scheme)://\(host == "127.0.0.1" ? "localhost" : host):\(port)/")
                if let tls {
                    print("Its certificate is its own; browsers warn once. SHA-256: \(tls.fingerprint)")
                    print("Key pin: \(tls.keyPin)")
                }
                print("What it keeps is in \(folder.url.path(percentEncoded: false))")
                // Whoever started it reads it from a pipe.
                fflush(nil)
            }
        } catch {
            try? await client.shutdown()
            try? app.store.close()
            throw error
        }
        try await client.shutdown()
        try app.store.close()
    }
}
