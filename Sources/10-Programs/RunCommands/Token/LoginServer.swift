import Access
import ArgumentParser
import Broker
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// The server of a login and its client there, as a person names them.
struct LoginServer: ParsableArguments {
    @Option(
        name: .customLong("token-endpoint"),
        help: ArgumentHelp("The server's address for tokens: https://HOST/PATH.", valueName: "url"))
    var endpoint: String

    @Option(
        name: .customLong("client-id"), help: ArgumentHelp("The name of the client at the server.", valueName: "id"))
    var client: String

    @Option(
        name: .customLong("client-secret-fd"),
        help: ArgumentHelp("Read the client's secret from this open file descriptor.", valueName: "n"))
    var secretDescriptor: Int32?

    @Option(help: "How the client shows its secret: basic or post; none without a secret.")
    var authentication: StoredLogin.ClientAuthentication?

    @Option(help: ArgumentHelp("What to ask for; without it, all that the login was given for.", valueName: "scope"))
    var scope: String?

    @Option(help: ArgumentHelp("The IP address to dial for the server.", valueName: "address"))
    var address: String?

    @Option(
        help: ArgumentHelp(
            "A file in PEM with certificates of authorities that the server may have, beside those of the system.",
            valueName: "path"), completion: .file())
    var authority: String?

    @Option(help: ArgumentHelp("The access group to store in.", valueName: "group"), completion: .groups)
    var group: String?

    /// - Parameter name: Of the login.
    func validate(_ name: String) throws {
        guard !name.isEmpty, !name.hasPrefix("-"), !TokenCommand.taken.contains(name) else {
            throw ValidationError("choose another name: this one is a word of `keychain token`")
        }
        guard
            (authentication == nil || authentication == StoredLogin.ClientAuthentication.none)
                == (secretDescriptor == nil) || authentication == nil
        else {
            throw ValidationError(
                "--authentication basic and post need --client-secret-fd, and none excludes it")
        }
        try OpenDescriptor.validate(secretDescriptor)
        guard secretDescriptor != 0 else {
            throw ValidationError("standard input is for a person: choose another descriptor for the secret")
        }
    }

    func destination() throws -> BrokerDestination {
        var server = try TokenCall.server(endpoint)
        guard server.isSecure || address == "127.0.0.1" || address == "::1" else {
            throw Failure.usage("the token endpoint gets the refresh token: it has to be https://")
        }
        guard !server.host.hasPrefix("*") else { throw Failure.usage("the token endpoint has to be one host") }
        do {
            server.address = try address.map { try BrokerDestination.address($0) }
        } catch {
            throw Failure.usage("--address takes an IP address")
        }
        return server
    }

    /// The client's secret; nil without one.
    func secret() throws -> HeldSecret? {
        try secretDescriptor.map { try Self.text(SecretInput.readAll($0, keepingNewline: false), "client's secret") }
    }

    func login(
        _ destination: BrokerDestination, _ secret: HeldSecret?, refreshToken: HeldSecret
    ) throws -> StoredLogin {
        var login = StoredLogin(
            endpoint: endpoint, client: client, authentication: authentication ?? (secret == nil ? .none : .basic),
            refreshToken: refreshToken)
        login.clientSecret = secret
        login.scope = scope
        login.address = destination.address
        login.authorities = try authority.map { String(decoding: try RunInput.read($0), as: UTF8.self) }
        return login
    }

    /// Stores a login. One that is there under this name is replaced.
    ///
    /// - Parameter access: What came with the refresh token: the access token, and for how many seconds it is good.
    func store(
        _ login: StoredLogin, as name: LoginName, in session: VaultSession,
        access: (token: HeldSecret, lifetime: Int64?)? = nil
    ) throws {
        var login = login
        let existing = try name.search.oneIfAny(in: session)
        if existing != nil {
            // What is damaged is replaced, and what cannot be counted on starts anew.
            let former = try? LoginStore(session: session, name: name).read().login
            // Who waits for a token knows by the number those of the new login.
            login.attempt = former.map { $0.nextAttempt ?? 0 } ?? 1
            // It is tried if a person says so: the new one may be a mistake.
            if let former, former.endpoint == login.endpoint, former.client == login.client,
                former.refreshToken != login.refreshToken
            {
                login.previousRefreshToken = former.refreshToken
            }
        }
        if let access {
            login.access = StoredLogin.Access(
                token: access.token, attempt: login.attempt, issued: LoginRefresher.now, lifetime: access.lifetime)
        }
        var item = NewItem(
            itemClass: .genericPassword,
            attributes: [
                .service: .string(StoredLogin.service), .account: .string(name.name),
                .label: .string("login at \(try TokenCall.server(login.endpoint).host)"),
            ],
            accessGroup: try existing?.accessGroup ?? name.group ?? OtherTool.groupForNewItem,
            accessControl: AccessControl(protection: .afterFirstUnlockThisDeviceOnly), isSynchronizable: false,
            value: try login.value())
        // Using another former one can end the login.
        item.kept = .atMost(0)
        _ = try session.perform(PutItem(item))
    }

    static func text(_ bytes: Data, _ what: String) throws -> HeldSecret {
        guard !bytes.isEmpty, bytes.count <= 64 << 10, bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Failure(status: errSecParam, "the \(what) is empty, or not one line of printable ASCII")
        }
        return HeldSecret(try .copy(bytes))
    }
}

extension StoredLogin.ClientAuthentication: ExpressibleByArgument {}
