import ArgumentParser
import Broker
import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Logs in at a service: a person allows it in a browser.
struct LogInCommand: DocumentedCommand {
    static let summary = "Log in at a service, and store the login."
    static let details = """
        The server gives a code. A person opens the address that is shown in a browser, on this or any other device, \
        types the code there and allows the log-in. Meanwhile this command asks the server, until it gives the tokens \
        (RFC 8628, "device authorization"). They go into the vault, and are not shown.

        If the name is there already, the new login takes the place of the old one.

        Allow a log-in only if you began it yourself: whoever sends you such a code gets the login.
        """
    static let examples = [
        Example(
            "At a service that gives refresh tokens for a scope",
            #"""
            keychain token login work --client-id my-client \
                --device-endpoint https://login.example.com/oauth/device \
                --token-endpoint https://login.example.com/oauth/token \
                --scope 'repo offline_access'
            """#)
    ]
    static let configuration: CommandConfiguration = documented("login")

    @Argument(help: "The name of the login.")
    var name: String

    @Option(
        name: .customLong("device-endpoint"),
        help: ArgumentHelp("The server's address for codes, at the host of --token-endpoint.", valueName: "url"))
    var codes: String

    @OptionGroup var server: LoginServer

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    /// Of one request, in seconds.
    private static let requestTime = 45
    /// What the server wants to be waited more after it was asked too often, in seconds (RFC 8628, 3.5).
    private static let slower: Int64 = 5

    func validate() throws { try server.validate(name) }

    func run() throws {
        let destination = try server.destination()
        let codes = try TokenCall.server(codes)
        guard codes.host == destination.host, codes.port == destination.port, codes.isSecure == destination.isSecure
        else { throw Failure.usage("--device-endpoint has to be at the server of --token-endpoint") }
        let secret = try server.secret()
        // A vault that takes nothing fails before a person does anything.
        let session = try VaultSession.ofOwner(passcode)
        let name = LoginName(self.name, group: server.group)
        _ = try name.search.oneIfAny(in: session)
        var login = try server.login(destination, secret, refreshToken: HeldSecret(try SecretBytes("none yet")))
        let answer = try granted(authorize(login), login)
        guard let refresh = answer.refresh else {
            throw Failure(
                status: errSecParam,
                "\(destination.host) gives no refresh token: look in its pages for the scope of such tokens, which is often "
                    + "offline_access, and give it with --scope")
        }
        login.refreshToken = refresh
        try server.store(login, as: name, in: session, access: answer.access.map { ($0, answer.lifetime) })
        CommandNote.show("logged in: `keychain token \(ShellWord.quoted(self.name) ?? "NAME")` prints an access token")
    }

    /// Gets the codes, and tells the person.
    private func authorize(_ login: StoredLogin) throws -> DeviceAuthorization {
        let call = TokenCall(login, seconds: Self.requestTime)
        let (answer, body) = try call.make(TokenRequest(authorizing: login), to: codes)
        guard let status = answer.status, answer.end == nil else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other, "\(call.host): \(answer.end ?? "there is no answer")")
        }
        guard (200..<300).contains(status), let authorization = DeviceAuthorization(body) else {
            let reason = TokenAnswer(status: status, body: body, from: call.host, hiding: []).reason
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                (200..<300).contains(status)
                    ? "\(call.host) answers with something else than the codes of RFC 8628: look at --device-endpoint"
                    : reason ?? "\(call.host) answers with the status \(status)")
        }
        CommandNote.show("open \(authorization.placeWithCode ?? authorization.place) in a browser")
        CommandNote.show("and type the code, or compare it: \(authorization.userCode)")
        if authorization.host != call.host {
            CommandNote.show(
                "\(authorization.host) is another server than \(call.host): go on only if you know that it belongs to the login"
            )
        }
        return authorization
    }

    /// Asks until the person has allowed it.
    private func granted(_ authorization: DeviceAuthorization, _ login: StoredLogin) throws -> TokenAnswer {
        let call = TokenCall(login, seconds: Self.requestTime)
        let end = ContinuousClock.now + .seconds(authorization.lifetime)
        var interval = authorization.interval
        while ContinuousClock.now < end {
            sleep(UInt32(clamping: interval))
            let (answer, body) = try call.make(TokenRequest(askingFor: authorization, of: login))
            guard let status = answer.status, answer.end == nil else {
                // The server may be out of reach for a moment (RFC 8628, 3.5).
                interval = min(60, interval * 2)
                continue
            }
            let secrets = [authorization.deviceCode, login.clientSecret].compactMap { $0?.bytes }
            let given = TokenAnswer(status: status, body: body, from: call.host, hiding: secrets)
            switch given.error {
            case nil where given.access != nil || given.refresh != nil: return given
            case "authorization_pending": continue
            case "slow_down": interval += Self.slower
            default:
                throw Failure(
                    status: errSecAuthFailed,
                    "no login was stored: \(given.reason ?? "\(call.host) answers with the status \(status)")")
            }
        }
        throw Failure(status: errSecAuthFailed, "no login was stored: nobody allowed it in time")
    }
}
