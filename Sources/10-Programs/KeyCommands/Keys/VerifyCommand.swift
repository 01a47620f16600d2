import ArgumentParser
import CommandKit
import KeyCryptography
import StatusCodes
import VaultKeys

/// Verifies a signature.
struct VerifyCommand: DocumentedCommand {
    static let summary = "Check a signature of standard input."
    static let details = """
        Prints nothing. The exit status is 0 if the key made the signature for this data, and 1 otherwise. The \
        algorithms are those of `keychain key sign`. Works while the vault is locked.
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

    @Option(help: ArgumentHelp("The file with the signature.", valueName: "file"), completion: .file())
    var signature: String

    @Option(help: ArgumentHelp("The algorithm that it was signed with.", valueName: "name"))
    var algorithm: String?

    @Flag(help: "Standard input is the digest and not the message.")
    var digest = false

    @Option(help: "The form of the signature.")
    var encoding: BytesEncoding = .raw

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var valid: Bool
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        let key = try session.publicKey(of: pair, itemPassword.authentication())
        let choice = try AlgorithmChoice.signature(algorithm, isDigest: digest, for: key, .verify)
        guard let signature = encoding.decoding(try BytesInput.readAll(path: signature)) else {
            throw Failure(
                status: errSecParam, "the signature is not \(encoding.rawValue): say with --encoding how it is written")
        }
        let message = try BytesInput.readAll()
        let isValid = try session.result {
            try key.isValid(signature, of: message, by: choice.algorithm)
        }
        if json { try StandardOutput.write(json: Answer(valid: isValid)) }
        guard isValid else {
            if json { throw ExitCode(ExitStatus.other) }
            throw Failure(
                status: errSecVerifyFailed,
                "the signature was not made by this key for this data: do not trust the data")
        }
    }
}
