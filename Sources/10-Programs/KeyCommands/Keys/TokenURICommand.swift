import ArgumentParser
import CommandKit

/// Prints the name by which programs find a key through the PKCS #11 module.
struct TokenURICommand: DocumentedCommand {
    static let summary = "Print the PKCS #11 URI of a private key."
    static let details = """
        Programs that load libkeychain-pkcs11.so find the key by this URI (RFC 7512). It has the label and the hash of \
        the key, and no secret. Nobody is asked, and the vault may be locked.
        """
    static let examples = [
        Example("For nginx", #"echo "ssl_certificate_key \"engine:pkcs11:$(keychain key uri web)\";""#),
        Example("Show it with GnuTLS", #"p11tool --list-all "$(keychain key uri web)""#),
    ]
    static let configuration: CommandConfiguration = documented("uri")

    @OptionGroup var selection: KeySelection
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var uri: String
    }

    func run() throws {
        let uri = try TokenURI(selection.one(in: .forLooking(passcode))).text
        if json { return try StandardOutput.write(json: Answer(uri: uri)) }
        try StandardOutput.write(line: uri)
    }
}
