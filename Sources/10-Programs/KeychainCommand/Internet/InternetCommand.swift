import ArgumentParser
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Passwords of servers, by their addresses.
struct InternetCommand: DocumentedCommand {
    static let summary = "Keep the passwords of servers, which git and docker use, too."
    static let details = """
        An address is a URL, or a host with or without a port and a path. What it leaves out, any password may have \
        when one is looked for. A password in a URL is refused: every user of the machine can read arguments.

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
            InternetSetCommand.self, InternetGetCommand.self, InternetListCommand.self, InternetDeleteCommand.self,
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

    /// Returns the one item with the address.
    func one(_ passwords: InternetPasswords) throws -> StoredItem {
        let found = try passwords.find(complete)
        guard let item = found.first else { throw VaultError.itemNotFound }
        guard found.count == 1 else {
            let names = found.map { item in
                let address = InternetAddress(item)
                return "'\(address.url.escapedForTerminal)' of '\((address.account ?? "").escapedForTerminal)'"
            }
            throw Failure(
                status: errSecParam,
                "\(found.count) passwords have this address: \(names.sorted().joined(separator: ", ")); give the whole "
                    + "address and --account")
        }
        return item
    }
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
        let secret = try input.read()
        try InternetPasswords(.ofOwner(passcode), group: operand.group).store(secret, at: operand.complete)
    }
}

struct InternetGetCommand: DocumentedCommand {
    static let summary = "Print the password of a server."
    static let details = "A newline follows only on a terminal."
    static let examples = [Example("Show it", "keychain internet get https://alice@mail.example.org")]
    static let configuration: CommandConfiguration = documented("get")

    @OptionGroup var operand: InternetOperand
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
        let item = try operand.one(passwords)
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
    static let details = "Each line has the address and the account."
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
        var group: String
        var label: AttributeText?
        var expires: String?
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let answers = try InternetPasswords(session, group: group).find(
            address.map { try InternetAddress(operand: $0) }
        ).map { item in
            let address = InternetAddress(item)
            return Answer(
                url: address.url, account: address.account, group: item.accessGroup,
                label: item.attribute(.label).map(AttributeText.init),
                expires: item.expiry.date.map { Timestamp($0).iso8601 })
        }.sorted { ($0.url, $0.account ?? "") < ($1.url, $1.account ?? "") }
        if json { return try StandardOutput.write(json: answers) }
        for answer in answers {
            try StandardOutput.write(
                line: answer.url.escapedForTerminal + (answer.account.map { "\t\($0.escapedForTerminal)" } ?? ""))
        }
    }
}

struct InternetDeleteCommand: DocumentedCommand {
    static let summary = "Delete the password of a server."
    static let details = "The address and the account must name one password."
    static let examples = [Example("One", "keychain internet delete https://alice@mail.example.org")]
    static let configuration: CommandConfiguration = documented("delete")

    @OptionGroup var operand: InternetOperand
    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let passwords = try InternetPasswords(.ofOwnerInPresentVault(passcode), group: operand.group)
        try passwords.delete(operand.one(passwords))
    }
}
