import ArgumentParser
import AsyncHTTPClient
import Foundation
import FriendvatarsKit
import FriendvatarsWeb
import Logging
import NIOCore

/// Serves the app.
@main
struct FriendvatarsServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "friendvatars", abstract: "Serve Friendvatars: people sign in and see their friends.",
        discussion: """
            All that the app keeps is in one folder: a vault, an encrypted database, and pictures in protected files. \
            Options that have a value can be set in the environment as well, as FRIENDVATARS_PORT and so on, or, but for the \
            folder, in the vault, as passwords of the service org.example.friendvatars with accounts such as \
            friendvatars.avatars.

            Example: friendvatars --data ~/friendvatars --port 8443
            """)

    @OptionGroup var options: ServerOptions

    static func main() async {
        StandardDescriptors.fill()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: ServerFailure.saying(error))
        }
    }

    func run() async throws {
        let folder = try DataFolder(DataFolder.location(named: options.data))
        let lock = try ServingLock(folder)
        defer { withExtendedLifetime(lock) {} }
        let settings = try ServerSettings(options)
        let client = AvatarService.makeClient()
        do {
            try await serve(folder, settings, client)
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private func serve(_ folder: DataFolder, _ settings: ServerSettings, _ client: HTTPClient) async throws {
        var logger = Logger(label: "friendvatars")
        logger.logLevel = .notice
        let app = try await FriendvatarsApp(in: folder, service: try settings.service(client))
        defer { try? app.store.close() }
        var web = settings.web
        if !options.plain { web.tls = try await TLSIdentity(for: settings.name) }
        do {
            try await WebServer(app, options: web, logger: logger).run { [web] port in
                say(settings, web, port, folder)
            }
        } catch let error as IOError {
            throw ServerFailure(error, host: web.host, port: web.port)
        } catch is SocketAddressError {
            throw ServerFailure("There is no address \(printable(web.host)) to listen at; choose another with --host.")
        }
    }

    private func say(_ settings: ServerSettings, _ web: WebServer.Options, _ port: Int, _ folder: DataFolder) {
        let host = web.host == "127.0.0.1" ? "localhost" : web.host
        print("Friendvatars is at \(options.plain ? "http" : "https")://\(host):\(port)/")
        if let tls = web.tls {
            print("Its certificate is its own; browsers warn once. SHA-256: \(tls.fingerprint)")
            print("Key pin: \(tls.keyPin)")
        }
        if let host = settings.avatarHost {
            print("Pictures come from \(printable(host)), which gets hashes of addresses; --avatars none asks nobody")
        }
        print("What it keeps is in \(printable(folder.url.path(percentEncoded: false)))")
        // The program that started this one may read the text from a pipe.
        fflush(nil)
    }
}
