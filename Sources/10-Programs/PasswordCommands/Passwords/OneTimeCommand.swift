import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import OneTimeCodes
import StatusCodes
import VaultInterface

/// Prints a one-time code.
struct OneTimeCommand: DocumentedCommand {
    static let summary = "Print a one-time code, or store what such codes are made from."
    static let details = """
        The code is that of RFC 6238 (by time) or RFC 4226 (by counter, which this counts on), or Steam's. On a \
        terminal, a line says for how long it is good. A site has one code or more; the account chooses between them.

        With --set, the `otpauth://` address or the secret that the site shows is read from standard input, or typed \
        without echo. It is stored as a password of its own, `one-time-code/SITE`, so that `keychain list`, \
        `keychain delete` and access groups treat it like any other. `keychain import` takes codes in, too.
        """
    static let examples = [
        Example("The code of now", "keychain otp github.com"),
        Example("One of two accounts", "keychain otp github.com alice"),
        Example("Store it: the site shows the secret beside its QR code", "keychain otp github.com alice --set"),
        Example("Its address, for another device", "keychain otp github.com --uri"),
    ]
    static let configuration: CommandConfiguration = documented("otp")

    @Argument(help: "The site, such as a host.", completion: .sites)
    var site: String

    @Argument(help: "Whose code it is. May be left out if the site has one.")
    var account: String?

    @Flag(help: "Store an address or a secret, instead of printing a code.")
    var set = false

    @Flag(help: "Print the address with the secret, instead of a code.")
    var uri = false

    @OptionGroup var scope: ItemScope
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var code: String
        /// For how many more seconds it is good.
        var seconds: Int?
    }

    func validate() throws {
        guard !set || !uri else { throw ValidationError("--set and --uri exclude each other") }
        guard ![site, account ?? ""].contains(where: { $0.lowercased().hasPrefix("otpauth") }) else {
            throw ValidationError(
                "this address has the secret in it and is not taken from the command line, where every user of the "
                    + "machine can read it: name the site, say --set, and give the address on standard input or at the "
                    + "prompt")
        }
    }

    func run() throws {
        if set { return try store() }
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let source = OneTimeSource(site: site, account: account, scope: scope, itemPassword: itemPassword)
        if uri { return try StandardOutput.write(line: source.password(session).uri) }
        let (code, seconds) = try source.next(session)
        if json { return try StandardOutput.write(json: Answer(code: code, seconds: seconds)) }
        try StandardOutput.write(line: code)
        if let seconds, StandardOutput.isTerminal {
            CommandNote.show("good for \(seconds) more \(seconds == 1 ? "second" : "seconds")")
        }
    }

    private func store() throws {
        try OtherTool.refuseUnknownCopy(scope.group)
        let text = try String(validating: SecretInput.readOnce("Address or secret: "), as: UTF8.self)
        var password: OneTimePassword
        do throws(OneTimePasswordError) {
            password = try OneTimePassword(text ?? "")
        } catch {
            throw Failure(
                status: errSecParam,
                "no one-time codes come from this (\(error)): paste the otpauth:// address, or the secret beside the QR code"
            )
        }
        // The address says whose it is, wherever it goes from here.
        if password.issuer == nil { password.issuer = site }
        if password.account == nil { password.account = account }
        let session = try VaultSession.ofOwner(passcode)
        var item = NewItem(
            itemClass: .genericPassword,
            attributes: [
                .service: .string(EntryService.codePrefix + site), .account: .string(account ?? password.account ?? ""),
                .label: .string(password.issuer ?? site),
            ], accessGroup: try scope.group ?? OtherTool.groupForNewItem,
            isSynchronizable: scope.synchronizable ?? false, value: Data(password.uri.utf8))
        item.authentication = try itemPassword.authentication()
        let stored = try session.perform(PutItem(item))
        if json { try StandardOutput.write(json: ItemSummary(stored)) }
    }
}
