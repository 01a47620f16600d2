import AsyncHTTPClient
import Configuration
import Foundation
import FriendvatarsKit
import FriendvatarsWeb
import KeychainConfiguration

/// What the command line, the environment and the vault say together, looked over.
struct ServerSettings {
    /// How the app is served, without TLS.
    let web: WebServer.Options
    /// For the certificate.
    let name: String
    private let avatars: String
    private let form: AvatarHashForm

    /// - Throws: ``ServerFailure`` for what makes no sense.
    init(_ options: ServerOptions) throws {
        // The address of a service can have a key in it, which is better in the keychain than in the environment.
        let config = ConfigReader(providers: [
            EnvironmentVariablesProvider(), KeychainProvider(service: "org.example.friendvatars"),
        ]).scoped(to: "friendvatars")
        var web = WebServer.Options()
        web.host = options.host ?? config.string(forKey: "host", default: web.host)
        web.port = try Self.number("port", options.port, config, in: 0...65_535) ?? web.port
        web.patience = try Self.number("patience", options.patience, config, in: 1...3_600) ?? web.patience
        web.isBehindProxy = options.behindProxy
        name = options.name ?? config.string(forKey: "name", default: "localhost")
        web.isForOthers = name != "localhost"
        self.web = web
        avatars = options.avatars ?? config.string(forKey: "avatars", default: AvatarService.gravatar)
        let hash = options.hash ?? config.string(forKey: "hash", default: AvatarHashForm.sha256.rawValue)
        guard let form = AvatarHashForm(rawValue: hash) else {
            throw ServerFailure("There is no hash \(printable(hash)); use sha256 or md5.")
        }
        self.form = form
        guard avatars == "none" || AvatarService.host(of: avatars) != nil else {
            throw ServerFailure(
                "\(printable(avatars)) is no address of avatars; it has {hash} in it, such as \(AvatarService.gravatar)"
            )
        }
    }

    private static func number(
        _ key: String, _ given: Int?, _ config: ConfigReader, in range: ClosedRange<Int>
    ) throws -> Int? {
        let text = given.map { String($0) } ?? config.string(forKey: ConfigKey([key]))
        guard let text else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ServerFailure(
                "The \(key) is a number from \(range.lowerBound) to \(range.upperBound), not \(printable(text)).")
        }
        return number
    }

    /// Who is asked for pictures; nil for nobody.
    var avatarHost: String? { AvatarService.host(of: avatars) }

    /// Where pictures come from; nil to generate all of them.
    func service(_ client: HTTPClient) throws -> AvatarService? {
        AvatarService(address: avatars, form: form, client: client)
    }
}
