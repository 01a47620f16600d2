import Access
import ArgumentParser
import Broker
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Keeps logins of OAuth, and prints access tokens.
struct TokenCommand: DocumentedCommand {
    static let summary = "Keep logins that give access tokens (OAuth), and print a fresh token."
    static let details = """
        A login has a refresh token, and a server that gives access tokens for it. Many servers let a refresh token be \
        used once: if two programs have copies, they end the login. Here the vault has the only one. All \
        programs of the machine that use the login share the access token, and one of them at a time gets the next.

        `keychain run --broker` and `keychain mcp` use a login that the program itself never sees: \
        keychain://oauth-login/NAME names it in a rule.
        """
    static let examples = [
        Example(
            "Log in: a person allows it in a browser, on any machine",
            #"""
            keychain token login work --client-id my-client \
                --device-endpoint https://login.example.com/oauth/device \
                --token-endpoint https://login.example.com/oauth/token
            """#),
        Example(
            "Store a login: the refresh token is typed, or comes on standard input",
            #"""
            keychain token add work --client-id my-client \
                --token-endpoint https://login.example.com/oauth/token
            """#),
        Example(
            "Use it in a script",
            #"""
            curl --oauth2-bearer "$(keychain token work)" \
                https://api.example.com/me
            """#),
        Example(
            "Have a program use it that never sees a token",
            #"""
            keychain run --broker \
                'T=keychain://oauth-login/work to https://api.example.com' \
                -- ./agent
            """#),
    ]
    static let configuration = documented(
        "token",
        subcommands: [
            GetTokenCommand.self, LogInCommand.self, AddLoginCommand.self, ListLoginsCommand.self,
            LoginInfoCommand.self,
            RemoveLoginCommand.self,
        ], defaultSubcommand: GetTokenCommand.self)

    /// Names of subcommands, which cannot be names of logins.
    static let taken = ["get", "login", "add", "list", "info", "remove", "help"]
}

/// The name of a login.
struct LoginChoice: ParsableArguments {
    @Argument(help: "The name of the login.")
    var name: String

    @OptionGroup var scope: ItemScope

    var login: LoginName { LoginName(name, group: scope.group, synchronizable: scope.synchronizable) }
}

/// Prints an access token.
struct GetTokenCommand: DocumentedCommand {
    static let summary = "Print an access token that is good for a while; `get` can be left out."
    static let details = """
        The token comes from the vault if it is good for one more minute, or for as long as --minimum says. Otherwise \
        this gets a new one from the server, which has to be reached, or waits for another process that does so. A \
        newline follows only on a terminal.

        Whoever has the token can use it until it ends. Where a program can do without, use `keychain run --broker`.

        If the server cannot be reached, or refuses, nothing is lost: the login stays as it is. If the server says that \
        the login has ended, log in again.
        """
    static let examples = [
        Example("For a script", "token=$(keychain token work) || exit"),
        Example("With its end", "keychain token work --json | jq -r .expires"),
        Example("For a long upload", "keychain token work --minimum 20m"),
        Example("After a server refused the present token", "keychain token work --refresh"),
    ]
    static let configuration: CommandConfiguration = documented("get")

    @OptionGroup var choice: LoginChoice

    @Option(
        help: ArgumentHelp(
            "For how long it has to be good: 90s, 10m or 2h. If the server gives no token for so long, one in the first "
                + "half of its time is printed, and this is said.", valueName: "time"))
    var minimum: String?

    @Flag(help: "Get a new one in any case.")
    var refresh = false

    @Flag(
        help: ArgumentHelp(
            "Use the refresh token before the present one, if the server was set back and does not know that. Other "
                + "servers may end the login."))
    var previous = false

    @Flag(name: [.customShort("n"), .customLong("no-newline")], help: "Add no newline, not even on a terminal.")
    var noNewline = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var token: String
        var expires: String?
    }

    func validate() throws {
        if minimum != nil, seconds == nil {
            throw ValidationError("--minimum takes a time such as 90s, 10m or 2h, with a number below 1,000,000")
        }
    }

    /// What `--minimum` says, in seconds; nil if it is not a duration.
    private var seconds: Int64? {
        guard let minimum else { return StoredLogin.usualNeed }
        return minimum.last.flatMap { "smhd".contains($0) ? Moment.date(minimum, direction: 1) : nil }
            .map { Int64(clamping: $0.timeIntervalSinceNow.rounded(.up)) }
    }

    func run() throws {
        if choice.name == "help" { throw CleanExit.helpRequest(TokenCommand.self) }
        let prompt = RememberingPrompt(passcode.prompt)
        let session = try VaultSession.ofOwnerInPresentVault(passcode, prompt: prompt)
        let login = choice.login
        let present = try LoginStore(session: session, name: login).read().login
        var need = StoredLogin.Need(seconds: seconds ?? StoredLogin.usualNeed)
        need.isPrevious = previous
        if refresh || previous { need.refused = present.access?.attempt ?? 0 }
        need.isInsisting = refresh
        let now = Int64(clamping: Date().timeIntervalSince1970.rounded(.down))
        if let access = present.access(for: need, now: now, since: present.attempt) {
            return try show(LoginToken(access), access.token.bytes)
        }
        let remembered = RememberedPasscode(prompt)
        let keeper = try LoginKeeper(for: "token") { remembered.passcode() }
        defer { keeper.end() }
        let (token, secret) = try keeper.token(login, need)
        try show(token, secret)
    }

    private func show(_ token: LoginToken, _ secret: SecretBytes) throws {
        if minimum != nil, let end = token.end, let seconds {
            let left = end - Int64(clamping: Date().timeIntervalSince1970.rounded(.down))
            if left < seconds {
                CommandNote.show("the server gives no token for so long: this one ends in \(left) seconds")
            }
        }
        let bytes = secret.withUnsafeBytes { Data.wipedWhenFreed(copying: $0) }
        if json {
            let answer = Answer(
                token: String(decoding: bytes, as: UTF8.self),
                expires: token.end.map { Timestamp(Date(timeIntervalSince1970: Double($0))).iso8601 })
            return try StandardOutput.write(json: answer)
        }
        try StandardOutput.write(bytes)
        if StandardOutput.isTerminal, !noNewline { try StandardOutput.write(Data("\n".utf8)) }
    }
}

/// The passcode that a person gave to this process, for the process that refreshes logins.
struct RememberedPasscode: Sendable {
    private let prompt: RememberingPrompt

    init(_ prompt: RememberingPrompt) { self.prompt = prompt }

    /// Asks the person if this process did not need the passcode itself.
    func passcode() -> SecretBytes? {
        prompt.take() ?? (try? PasscodeInput.ask(prompt, "The vault is locked."))
    }
}

/// Stores a login.
struct AddLoginCommand: DocumentedCommand {
    static let summary = "Store a login, or log in anew under the same name."
    static let details = """
        The refresh token is typed without echo, or read from standard input. It is used the first time that somebody \
        needs an access token. From then on, let nothing else use it: most servers end a login whose refresh token \
        comes twice.

        A client that has a secret shows it with HTTP Basic, or in the form if --authentication post says so. The \
        secret is read from --client-secret-fd.

        The login can be used after the vault was unlocked once, also while it is locked. It does not leave this \
        device: no backup for others and no circle has it, because a copy would be a second user of the refresh token.
        """
    static let examples = [
        Example(
            "A login that another program began",
            #"""
            jq -er .refresh_token tokens.json | keychain token add work \
                --token-endpoint https://login.example.com/oauth/token \
                --client-id my-client
            """#),
        Example(
            "A client with a secret",
            #"""
            keychain token add ci --client-id ci --client-secret-fd 3 3< secret \
                --token-endpoint https://login.example.com/oauth/token
            """#),
    ]
    static let configuration: CommandConfiguration = documented("add")

    @Argument(help: "The name of the login.")
    var name: String

    @OptionGroup var server: LoginServer

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func validate() throws { try server.validate(name) }

    func run() throws {
        let (destination, secret) = try (server.destination(), server.secret())
        let token = try LoginServer.text(SecretInput.readOnce("Refresh token: "), "refresh token")
        let isJSON = token.bytes.withUnsafeBytes { $0.first == UInt8(ascii: "{") || $0.elementsEqual("null".utf8) }
        guard !isJSON else {
            throw Failure(
                status: errSecParam,
                "this is JSON and no refresh token: give the text of its member refresh_token alone")
        }
        let login = try server.login(destination, secret, refreshToken: token)
        try server.store(login, as: LoginName(name, group: server.group), in: .ofOwner(passcode))
    }
}
