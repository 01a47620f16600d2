import ArgumentParser
import Broker
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// What is known of a login, without its secrets.
struct LoginSummary: Encodable {
    var name: String
    var group: String
    /// Nil for an item that cannot be read, like all that follows.
    var endpoint: String?
    /// The address that is dialled for it, if the login says so.
    var address: String?
    /// Whether the login has authorities of its own for the server.
    var hasAuthorities: Bool?
    var client: String?
    var authentication: String?
    var scope: String?
    /// When the access token ends.
    var expires: String?
    /// When the last access token came.
    var refreshed: String?
    /// Why the last attempt failed.
    var failure: String?
    /// Whether the server said that the login has ended.
    var ended: Bool
    /// When a request went out whose answer did not come.
    var unanswered: String?
    /// Why the item cannot be read: `damaged` or `later version`.
    var problem: String?

    init(_ problem: StoredLogin.Problem, _ item: StoredItem) {
        name = item.names.account?.plain ?? ""
        group = item.accessGroup
        ended = false
        self.problem =
            switch problem {
            case .damaged: "damaged"
            case .version: "later version"
            }
    }

    init(_ login: StoredLogin, _ item: StoredItem) {
        name = item.names.account?.plain ?? ""
        group = item.accessGroup
        (endpoint, client, scope) = (login.endpoint, login.client, login.scope)
        (address, hasAuthorities) = (login.address, login.authorities == nil ? nil : true)
        authentication = login.authentication.rawValue
        expires = login.access?.end.map(Self.moment)
        refreshed = login.access.map { Self.moment($0.issued) }
        failure = login.failure?.reason
        ended = login.failure?.isEnd == true
        unanswered = login.unanswered.map(Self.moment)
    }

    private static func moment(_ seconds: Int64) -> String {
        Timestamp(Date(timeIntervalSince1970: Double(seconds))).iso8601
    }

    /// As `keychain token list` shows it.
    var state: String { problem ?? (ended ? "ended" : failure != nil ? "failed" : refreshed == nil ? "new" : "works") }
}

/// Lists the logins.
struct ListLoginsCommand: DocumentedCommand {
    static let summary = "List the logins, without their tokens."
    static let details = """
        One line for each: its name, the host that gives its tokens, the client, and whether it works: `new` if no \
        token was asked for, `works`, `failed` if the last attempt failed, and `ended` if the server said so. An item \
        that is no login is `damaged`, and one of a later version of this program `later version`.
        """
    static let examples = [Example("Those that have ended", "keychain token list | grep ended")]
    static let configuration: CommandConfiguration = documented("list")

    @OptionGroup var scope: ItemScope
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(StoredLogin.service)],
            accessGroup: scope.group, synchronizable: scope.synchronizableScope)
        let items = try Self.items(query, session)
        let summaries = items.map { (item) -> LoginSummary in
            do throws(StoredLogin.Problem) {
                return LoginSummary(try StoredLogin(value: item.value ?? Data()), item)
            } catch {
                // The others are shown all the same.
                return LoginSummary(error, item)
            }
        }.sorted { ($0.name, $0.group) < ($1.name, $1.group) }
        if json { return try StandardOutput.write(json: summaries) }
        let rows = summaries.map { summary in
            [
                summary.name, summary.endpoint.flatMap { try? Self.host(TokenCall.server($0)) } ?? "",
                summary.client ?? "", summary.state,
            ].map(\.escapedForTerminal)
        }
        if !rows.isEmpty { try StandardOutput.write(Table(rows, heads: ["login", "server", "client", "state"])) }
    }

    private static func host(_ server: BrokerDestination) -> String {
        server.port == (server.isSecure ? 443 : 80) ? server.urlHost : "\(server.urlHost):\(server.port)"
    }

    /// None is no error.
    private static func items(_ query: ItemQuery, _ session: VaultSession) throws(VaultError) -> [StoredItem] {
        do throws(VaultError) {
            return try session.perform(CopyItems(query, includingValues: true)) { _ in }
        } catch {
            guard error == .itemNotFound else { throw error }
            return []
        }
    }
}

/// Shows what is known of a login.
struct LoginInfoCommand: DocumentedCommand {
    static let summary = "Show what is known of a login, without its tokens."
    static let details = """
        Prints where its tokens come from, when the last one came and ends, and how the last attempt failed if it did.
        """
    static let examples = [Example("Why does it not work?", "keychain token info work")]
    static let configuration: CommandConfiguration = documented("info")

    @OptionGroup var choice: LoginChoice
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let entry = try LoginStore(session: session, name: choice.login).read()
        let summary = LoginSummary(entry.login, entry.item)
        if json { return try StandardOutput.write(json: summary) }
        let facts = [
            ["login", summary.name], ["group", summary.group], ["endpoint", summary.endpoint ?? ""],
            ["address", summary.address ?? ""],
            ["authorities", summary.hasAuthorities == true ? "of the login, beside the system's" : ""],
            ["client", summary.client ?? ""], ["authentication", summary.authentication ?? ""],
            ["scope", summary.scope ?? ""],
            ["state", summary.state], ["refreshed", summary.refreshed ?? ""], ["expires", summary.expires ?? ""],
            ["failure", summary.failure ?? ""], ["unanswered", summary.unanswered ?? ""],
        ]
        let shown = facts.filter { $0.last?.isEmpty == false }.map { $0.map(\.escapedForTerminal) }
        try StandardOutput.write(line: Table(shown).text(aligned: true))
    }
}

/// Removes a login.
struct RemoveLoginCommand: DocumentedCommand {
    static let summary = "Remove a login and its tokens."
    static let details = """
        The server is not told: take the login back there, too. On a terminal you have to type 'remove', unless --yes \
        is given.
        """
    static let examples = [Example("Remove it", "keychain token remove work")]
    static let configuration: CommandConfiguration = documented("remove")

    @OptionGroup var choice: LoginChoice
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: .jsonErrors)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let item = try choice.login.search.one(in: session, includingValues: false)
        if !yes {
            try Confirmation(
                loss: "the login \(choice.login.forTerminal) and its refresh token are then gone for good.",
                word: "remove", verb: "removed"
            ).ask(unattended: .goesOn)
        }
        _ = try session.perform(DeleteItems(ItemQuery(item: item)))
    }
}
