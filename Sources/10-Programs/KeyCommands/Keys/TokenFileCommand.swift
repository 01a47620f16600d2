import ArgumentParser
import CommandKit

/// Prints a file that refers to a key.
struct TokenFileCommand: DocumentedCommand {
    static let summary = "Print a PEM file that refers to a private key in the keychain."
    static let details = """
        For programs that take nothing but the name of a file for a private key, and use OpenSSL with its provider \
        pkcs11-provider. The file has the PKCS #11 URI of the key (`keychain key uri`) and no secret, so it may be \
        public. Nobody is asked, and the vault may be locked.
        """
    static let examples = [
        Example("A file instead of the key", "keychain key pem web > web.key"),
        Example(
            "Sign with it",
            #"""
            openssl pkeyutl -provider pkcs11 -provider default \
                -sign -inkey web.key -rawin -digest sha256 -in text -out text.sig
            """#),
    ]
    static let configuration: CommandConfiguration = documented("pem")

    @OptionGroup var selection: KeySelection
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func run() throws {
        try StandardOutput.write(TokenURI(selection.one(in: .forLooking(passcode))).file())
    }
}
