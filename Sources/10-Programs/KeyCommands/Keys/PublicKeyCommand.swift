import ArgumentParser
import CommandKit
import KeychainModel
import VaultKeys

/// Prints a public key.
struct PublicKeyCommand: DocumentedCommand {
    static let summary = "Print the public half of a key."
    static let details = """
        pem and der are a SubjectPublicKeyInfo (RFC 5280), openssh is a line of authorized_keys with the label as its \
        comment, and jwk is a JSON web key (RFC 7517) whose identifier is its thumbprint (RFC 7638). Works while the \
        vault is locked.
        """
    static let examples = [
        Example("For OpenSSL", "keychain key public release > release.pem"),
        Example(
            "For logging in",
            #"""
            keychain key public laptop --format openssh |
                ssh git.example.com 'cat >> .ssh/authorized_keys'
            """#),
    ]
    static let configuration: CommandConfiguration = documented("public")

    @OptionGroup var selection: KeySelection

    @Option(help: "The form of the key.")
    var format: PublicKeyFormat = .pem

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        let encoding =
            if let kind = pair.postQuantum, let bytes = pair.publicHalf?.value ?? pair.enclaveRecord?.publicKey {
                try format.encoding(of: bytes, kind)
            } else {
                try format.encoding(
                    of: session.publicKey(of: pair, itemPassword.authentication()), comment: pair.name)
            }
        try BytesOutput.write(encoding, isText: format != .der)
    }
}
