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

    @OptionGroup var choice: PasswordChoice
    @OptionGroup var itemPassword: ItemPassword

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
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var base64: String
        var utf8: String?
    }

    func validate() throws {
        guard identifier.prefix == nil || version != nil else { throw ValidationError("--id goes with --version") }
    }

    func run() throws {
        var search = try choice.search(passcode, itemPassword)
        search.query.includesExpired = expired
        try Self.run(search, version: version, identifier, passcode: passcode, noNewline: noNewline, json: json)
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
