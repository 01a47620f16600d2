import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Passwords of servers, by their addresses.
struct InternetCommand: DocumentedCommand {
    static let summary = "Keep the passwords of servers, which git and docker use, too."
    static let details = """
        An address is a URL, or a host with or without a port and a path. Without a port it means the default port of \
        its protocol, and without a path a password without one. Only the protocol and the account can be left out \
        where they are clear. A password in a URL is refused: every user of the machine can read arguments.

        git and docker keep their credentials here with the helpers git-credential-keychain and \
        docker-credential-keychain.
        """
    static let examples = [
        Example("Store one, typed twice", "keychain internet set https://alice@mail.example.org"),
        Example("Use it", "keychain internet get https://alice@mail.example.org"),
        Example("See what there is", "keychain internet list"),
    ]
    static let configuration = documented(
        "internet",
        subcommands: [
            InternetSetCommand.self, InternetChangeCommand.self, InternetGetCommand.self, InternetListCommand.self,
            InternetDeleteCommand.self,
        ])
}

extension InternetAddress {
    /// Reads an operand. The error does not repeat it, because a password may be in it.
    init(operand: String) throws {
        guard let address = InternetAddress(operand) else {
            throw ValidationError(
                "an address is a URL without a password, such as https://alice@mail.example.org, or a host")
        }
        self = address
    }
}

/// What the commands for one password have in common.
struct InternetOperand: ParsableArguments {
    @Argument(help: "A URL, such as https://alice@mail.example.org:8443/path, or a host.")
    var address: String

    @Option(help: ArgumentHelp("Whose password it is, if the address does not say that.", valueName: "account"))
    var account: String?

    @Option(help: ArgumentHelp("Only items of this access group.", valueName: "group"))
    var group: String?

    func validate() throws { _ = try complete }

    var complete: InternetAddress {
        get throws {
            var complete = try InternetAddress(operand: address)
            complete.account = account ?? complete.account
            return complete
        }
    }

    /// Returns the one item that the address names.
    ///
    /// - Parameter domain: Of the items that are looked for; nil for every one.
    func one(_ passwords: InternetPasswords, in domain: String?) throws -> StoredItem {
        let address = try complete
        var found = try passwords.find(address, in: domain.map { .only($0.isEmpty ? nil : $0) } ?? .any)
        // It goes with a password of git.
        if domain == nil { found.removeAll { $0.securityDomain == GitCredential.tokenDomain } }
        // A password without a protocol could not be named otherwise.
        let exact = found.filter { InternetAddress($0).service == address.service }
        if address.account != nil, exact.count == 1 { found = exact }
        guard let item = found.first else { throw absent(address, passwords) }
        guard found.count == 1 else {
            throw Failure(
                status: errSecParam,
                "\(found.count) passwords have this address: \(Self.names(found)); give the whole address, --account and "
                    + "--domain")
        }
        return item
    }

    private func absent(_ address: InternetAddress, _ passwords: InternetPasswords) -> Failure {
        // A program that may not list them learns of none.
        let others = ((try? passwords.all()) ?? []).filter {
            InternetAddress($0).canonicalHost == address.canonicalHost
        }
        let hint =
            others.isEmpty
            ? "`keychain internet list` shows what there is"
            : "the host has \(Self.names(others)): give the whole address and --account"
        return Failure(status: errSecItemNotFound, "there is no password with this address; \(hint)")
    }

    private static func names(_ items: [StoredItem]) -> String {
        let names = items.map { item in
            let address = InternetAddress(item)
            let domain = item.securityDomain.map { " (domain '\($0.escapedForTerminal)')" } ?? ""
            return "'\(address.url.escapedForTerminal)' of '\((address.account ?? "").escapedForTerminal)'\(domain)"
        }
        return names.sorted().joined(separator: ", ")
    }
}

/// Chooses between passwords of one address.
struct InternetDomain: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only the password with this security domain, such as docker, or with none if it is empty.",
            valueName: "domain"))
    var domain: String?
}

struct InternetSetCommand: DocumentedCommand {
    static let summary = "Store the password of a server, or replace the one that is there."
    static let details = """
        You type the password twice, without echo. If standard input is not a terminal, it is read from there, and one \
        newline at its end is removed.
        """
    static let examples = [
        Example("Type it", "keychain internet set https://alice@mail.example.org"),
        Example("Take it from a program", "pwgen -s 32 1 | keychain internet set db.example.org --account app"),
    ]
    static let configuration: CommandConfiguration = documented("set")

    @OptionGroup var operand: InternetOperand
    @OptionGroup(title: "Where the password comes from") var input: SecretInput
    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        // First, so that nobody types a secret that cannot be stored.
        try OtherTool.refuseUnknownCopy(operand.group)
        let secret = try input.read()
        try InternetPasswords(.ofOwner(passcode), group: operand.group).store(secret, at: operand.complete)
    }
}

struct InternetChangeCommand: DocumentedCommand {
    static let summary = "Change the attributes, class or expiry of a server's password, and not the password."
    static let details = """
        Nobody gives the password again, and what you do not mention stays. What reading it takes, changing it takes, \
        too: an unlocked vault, or a person.
        """
    static let examples = [
        Example("Let it expire in 90 days", "keychain internet change https://alice@mail.example.org --expires 90d"),
        Example(
            "Give it an attribute to find it by",
            "keychain internet change db.example.org --attribute stage=test"),
    ]
    static let configuration: CommandConfiguration = documented("change")

    @OptionGroup var operand: InternetOperand
    @OptionGroup var choice: InternetDomain
    @OptionGroup(title: "What to change") var options: ChangeOptions
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let authentication = try itemPassword.authentication(isNew: options.require.contains(.password))
        let item = try operand.one(InternetPasswords(session, group: operand.group), in: choice.domain)
        try options.change(item, in: session, asking: authentication)
    }
}

struct InternetGetCommand: DocumentedCommand {
    static let summary = "Print the password of a server."
    static let details = "A newline follows only on a terminal."
    static let examples = [Example("Show it", "keychain internet get https://alice@mail.example.org")]
    static let configuration: CommandConfiguration = documented("get")

    @OptionGroup var operand: InternetOperand
    @OptionGroup var choice: InternetDomain
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var url: String
        var account: String?
        var utf8: String?
        var base64: String
    }

    func run() throws {
        let passwords = try InternetPasswords(.ofOwnerInPresentVault(passcode), group: operand.group)
        let item = try operand.one(passwords, in: choice.domain)
        if let end = item.expiry.date, item.isExpired(Date()) { throw VaultError.itemExpired(end) }
        guard let secret = try passwords.secret(item) else { throw VaultError.itemNotFound }
        guard json else {
            return try StandardOutput.write(StandardOutput.isTerminal ? secret + Data([0x0A]) : secret)
        }
        let address = InternetAddress(item)
        try StandardOutput.write(
            json: Answer(
                url: address.url, account: address.account, utf8: String(validating: secret, as: UTF8.self),
                base64: secret.base64EncodedString()))
    }
}

struct InternetListCommand: DocumentedCommand {
    static let summary = "List the passwords of servers, without the passwords."
    static let details = """
        Each line has the address and the account. What a given address leaves out can be anything.
        """
    static let examples = [
        Example("All of them", "keychain internet list"),
        Example("Those of a host", "keychain internet list example.org"),
    ]
    static let configuration: CommandConfiguration = documented("list")

    @Argument(help: "Only passwords with this address.")
    var address: String?

    @Option(help: ArgumentHelp("Only items of this access group.", valueName: "group"))
    var group: String?

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws { _ = try address.map { try InternetAddress(operand: $0) } }

    private struct Answer: Encodable {
        var url: String
        var account: String?
        var domain: String?
        var group: String
        var label: AttributeText?
        var expires: String?
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let asked = try address.map { try InternetAddress(operand: $0) }
        var withheld = 0
        let answers = try InternetPasswords(session, group: group).all { withheld += 1 }.filter { item in
            asked?.includes(InternetAddress(item)) ?? true
        }.map { item in
            let address = InternetAddress(item)
            return Answer(
                url: address.url, account: address.account, domain: item.securityDomain, group: item.accessGroup,
                label: item.attribute(.label).map(AttributeText.init),
                expires: item.expiry.date.map { Timestamp($0).iso8601 })
        }.sorted { ($0.url, $0.account ?? "") < ($1.url, $1.account ?? "") }
        if withheld > 0 {
            let items = withheld == 1 ? "1 password needs" : "\(withheld) passwords need"
            CommandNote.show("\(items) a person and cannot be listed: `keychain internet get` asks")
        }
        if answers.isEmpty { try OtherTool.refuseUnknownCopy(group, "nothing is listed") }
        if json { return try StandardOutput.write(json: answers) }
        for answer in answers {
            try StandardOutput.write(
                line: answer.url.escapedForTerminal + (answer.account.map { "\t\($0.escapedForTerminal)" } ?? ""))
        }
    }
}

struct InternetDeleteCommand: DocumentedCommand {
    static let summary = "Delete the password of a server."
    static let details = """
        The address and the account must name one password. Without a port, the one of the default port goes, and none \
        of another port. On a terminal you have to type 'delete', unless --yes is given.
        """
    static let examples = [Example("One", "keychain internet delete https://alice@mail.example.org")]
    static let configuration: CommandConfiguration = documented("delete")

    @OptionGroup var operand: InternetOperand
    @OptionGroup var choice: InternetDomain
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Do not ask.")
    var yes = false

    func run() throws {
        let passwords = try InternetPasswords(.ofOwnerInPresentVault(passcode), group: operand.group)
        let item = try operand.one(passwords, in: choice.domain)
        if !yes {
            try Confirmation(
                loss: "The password of '\(InternetAddress(item).url.escapedForTerminal)' is then gone for good.",
                word: "delete", verb: "deleted"
            ).ask(unattended: .goesOn)
        }
        // The token that git keeps with the password could not be found any more.
        if item.securityDomain == nil, let token = try GitCredential.token(of: item, passwords) {
            try passwords.delete(token)
        }
        try passwords.delete(item)
    }
}
