import ArgumentParser
import FoundationEssentials
import KeyCryptography
import StatusCodes
import VaultKeys

/// Verifies a signature.
struct VerifyCommand: DocumentedCommand {
    static let summary = "Check a signature of what standard input has."
    static let details = """
        Prints nothing and ends with 0 if the signature is the key's for this data, and with 1 otherwise. The algorithms \
        are those of `keychain key sign`. Works while the vault is locked.
        """
    static let examples = [
        Example(
            "Check a file",
            #"""
            keychain key verify release \
                --signature release.tar.sig < release.tar
            """#)
    ]
    static let configuration: CommandConfiguration = documented("verify")

    @OptionGroup var selection: KeySelection

    @Option(help: ArgumentHelp("The file with the signature.", valueName: "file"))
    var signature: String

    @Option(help: ArgumentHelp("How it was signed.", valueName: "name"))
    var algorithm: String?

    @Flag(help: "Standard input has the digest and not the message.")
    var digest = false

    @Option(help: "How the signature is written.")
    var encoding: BytesEncoding = .raw

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print the result, and any error, as JSON.")
    var json = false

    private struct Answer: Encodable {
        var valid: Bool
    }

    func run() throws {
        let session = try KeySession.forLooking(passcode)
        let pair = try selection.one(in: session)
        let key = try session.publicKey(of: pair, itemPassword.authentication())
        let choice = try AlgorithmChoice.signature(algorithm, isDigest: digest, for: key, .verify)
        guard let signature = encoding.decoding(try BytesInput.readAll(path: signature)) else {
            throw Failure(
                status: errSecParam, "the signature is not \(encoding.rawValue): say with --encoding how it is written")
        }
        let message = try BytesInput.readAll()
        let isValid = try session.result { () throws(KeyError) in
            try key.isValid(signature, of: message, by: choice.algorithm)
        }
        if json { try StandardOutput.write(json: Answer(valid: isValid)) }
        guard isValid else {
            if json { throw ExitCode(ExitStatus.other) }
            throw Failure(status: errSecVerifyFailed, "the signature is not this key's for this data")
        }
    }
}
