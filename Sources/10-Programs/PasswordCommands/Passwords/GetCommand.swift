import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Prints a secret.
struct GetCommand: DocumentedCommand {
    static let summary = "Print a secret."
    static let details = """
        Exactly the bytes of the secret are written to standard output. A newline follows only on a terminal, so that \
        a pipe or a file holds the secret and nothing else.

        What another program stored is found by its label or its attributes, which `keychain list` shows. If several \
        items have them, none is printed, and the error names them.

        With --json, 'base64' always holds the secret, and 'utf8' holds it as text if it is text.
        """
    static let examples = [
        Example("Show it", "keychain get mail.example.com alice"),
        Example("Use it in a script", "token=$(keychain get api.example.com ci) || exit"),
        Example("Put it back into a file", "keychain get signing key > key.bin"),
        Example("See a secret that is no longer used", "keychain get registry.example.com ci --expired"),
        Example("See what the secret was before", "keychain get db.example.com app --version 3"),
        Example(
            "What Python's keyring stored", "keychain get --attribute service=example.org --attribute username=ann"),
        Example("Choose between groups", "keychain get api.example.com ci --group com.example.builder"),
    ]
    static let configuration: CommandConfiguration = documented("get")

    @Argument(help: "What the secret is for, such as a host or a program.")
    var service: String?

    @Argument(help: "Whose secret it is. May be left out if the service has one account.")
    var account: String?

    @Option(
        help: ArgumentHelp(
            "Find the item by an attribute, instead of service and account. If repeated, it has all of them.",
            valueName: "name=value"))
    var attribute: [CustomAttribute] = []

    @Option(help: ArgumentHelp("Find the item by its label, instead of service and account.", valueName: "text"))
    var label: String?

    @OptionGroup var scope: ItemScope

    @Flag(name: [.customShort("n"), .customLong("no-newline")], help: "Add no newline, not even on a terminal.")
    var noNewline = false

    @Flag(help: "Print the secret even after it expired.")
    var expired = false

    @Option(
        help: ArgumentHelp(
            "Print a former version, which `keychain history` shows. If the item was deleted, its versions count.",
            valueName: "number"))
    var version: Int64?

    @OptionGroup var identifier: ItemIdentifier
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var base64: String
        var utf8: String?
    }

    /// Nil if service and account name the item.
    private var match: PasswordMatch? {
        get throws {
            guard !attribute.isEmpty || label != nil else { return nil }
            return PasswordMatch(
                service: service, account: account, label: label, attributes: try attribute.dictionary(), scope: scope)
        }
    }

    func validate() throws {
        guard identifier.prefix == nil || version != nil else { throw ValidationError("--id goes with --version") }
        guard try match == nil else { return }
        if service == nil { throw ValidationError("Missing expected argument '<service>'") }
    }

    func run() throws {
        var search = PasswordSearch(
            service: service ?? "", account: account ?? "", group: scope.group,
            synchronizable: scope.synchronizableScope, authentication: try itemPassword.authentication())
        if let match = try match { try search.choose(match.one(in: .ofOwnerInPresentVault(passcode))) }
        if account == nil, try match == nil { search.choose(try only(accountOf: search)) }
        search.query.includesExpired = expired
        try Self.run(search, version: version, identifier, passcode: passcode, noNewline: noNewline, json: json)
    }

    /// Returns the item of a service that has no other one.
    private func only(accountOf search: PasswordSearch) throws -> StoredItem {
        var query = search.query
        query.attributes[.account] = nil
        query.includesExpired = true
        let service = (service ?? "").escapedForTerminal
        let found = try VaultSession.ofOwnerInPresentVault(passcode).described(query)
        guard let first = found.first else {
            throw Failure(
                status: errSecItemNotFound,
                "no password is stored for '\(service)': `keychain list` shows what there is")
        }
        let accounts = Set(found.map { $0.names.account?.plain ?? "" })
        guard accounts.count == 1 else {
            let names = accounts.sorted().prefix(20).map { "'\($0.escapedForTerminal)'" }.joined(separator: ", ")
            throw Failure.usage("'\(service)' has \(accounts.count) accounts: name one, of \(names)")
        }
        return first
    }

    static func run(
        _ search: PasswordSearch, version: Int64? = nil, _ identifier: ItemIdentifier = .any,
        passcode: PasscodeInput? = nil, noNewline: Bool = false, json: Bool = false
    ) throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let item =
            try version.map { try search.version($0, in: session, identifier) }
            ?? search.one(in: session, includingValues: true)
        guard let secret = item.value else {
            throw Failure(
                status: errSecItemNotFound, "the item holds no secret: store one with `keychain set`")
        }
        if json {
            let answer = Answer(base64: secret.base64EncodedString(), utf8: String(validating: secret, as: UTF8.self))
            return try StandardOutput.write(json: answer)
        }
        try StandardOutput.write(secret)
        if StandardOutput.isTerminal, !noNewline { try StandardOutput.write(Data("\n".utf8)) }
    }
}
