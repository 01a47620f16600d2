import ArgumentParser
import CommandKit
import FoundationEssentials
import KeyCryptography
import KeychainModel
import StatusCodes
import VaultKeys

/// Signs standard input.
struct SignCommand: DocumentedCommand {
    static let summary = "Sign standard input with a private key."
    static let details = """
        Unless --algorithm names another, the algorithm is ECDSA with the hash function that fits the curve and the \
        signature in DER, and for RSA PKCS#1 v1.5 with SHA-256. Others: \
        \(SignatureName.allCases.map(\.rawValue).joined(separator: ", ")). 'raw' stands for the two numbers one after \
        the other, as in JSON web signatures. Apple's names (algid:…) work too. With --json, the signature is in \
        base64.

        A person is asked if the key requires it.
        """
    static let examples = [
        Example("Sign a file", "keychain key sign release < release.tar > release.tar.sig"),
        Example(
            "Check it with OpenSSL",
            #"""
            keychain key public release > release.pem
            openssl dgst -sha256 -verify release.pem \
                -signature release.tar.sig release.tar
            """#),
        Example("Sign a digest", "openssl dgst -sha256 -binary file | keychain key sign release --digest"),
    ]
    static let configuration: CommandConfiguration = documented("sign")

    @OptionGroup var selection: KeySelection

    @Option(help: ArgumentHelp("The algorithm to sign with.", valueName: "name"))
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
        var algorithm: String
        var signature: String
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        try KeyTerminal.refuse(encoding, unless: json)
        let message = try BytesInput.readAll()
        var options = try itemPassword.authentication()
        options.prompt = "sign with the key '\(pair.name)'."
        let key = try session.privateKey(of: pair, options)
        let choice = try AlgorithmChoice.signature(algorithm, isDigest: digest, for: key, .sign)
        let signature = try session.result {
            try key.sign(message, by: choice.algorithm)
        }
        if json {
            try StandardOutput.write(json: Answer(algorithm: choice.name, signature: signature.base64EncodedString()))
        } else {
            try BytesOutput.write(
                encoding.encoding(of: signature), isText: encoding != .raw, remedy: KeyTerminal.remedy)
        }
    }
}

/// Refuses binary output on a terminal, before anybody is asked for anything.
enum KeyTerminal {
    static let remedy = "send it to a file, or say --encoding base64"

    static func refuse(_ encoding: BytesEncoding, unless isText: Bool) throws {
        guard isText || encoding != .raw || !StandardOutput.isTerminal else {
            throw Failure(status: errSecParam, "the result is binary and standard output is a terminal: \(remedy)")
        }
    }
}
