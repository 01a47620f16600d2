import ArgumentParser
import CommandKit
import FoundationEssentials
import KeyCryptography
import KeychainModel
import StatusCodes
import VaultKeys

/// Encrypts for a key.
struct EncryptCommand: DocumentedCommand {
    static let summary = "Encrypt standard input for the holder of a key."
    static let details = """
        Uses the public half. Unless --algorithm names another, the algorithm is ECIES for keys on a curve and OAEP \
        with AES-GCM for RSA, both for data of any length. Others: \
        \(EncryptionName.allCases.map(\.rawValue).joined(separator: ", ")); Apple's names (algid:…) work too. The \
        output is that of Apple's SecKeyCreateEncryptedData; with --json it is in base64. Works while the vault is \
        locked.
        """
    static let examples = [
        Example("A file that only this keychain opens", "keychain key encrypt backup < plain > sealed"),
        Example("And back", "keychain key decrypt backup < sealed > plain"),
    ]
    static let configuration: CommandConfiguration = documented("encrypt")

    @OptionGroup var selection: KeySelection

    @Option(help: ArgumentHelp("The algorithm to encrypt with.", valueName: "name"))
    var algorithm: String?

    @Option(help: "The form of the result.")
    var encoding: BytesEncoding = .raw

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var algorithm: String
        var ciphertext: String
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        try KeyTerminal.refuse(encoding, unless: json)
        let key = try session.publicKey(of: pair, itemPassword.authentication())
        let choice = try AlgorithmChoice.encryption(algorithm, for: key, .encrypt)
        let plaintext = try BytesInput.readAll()
        let ciphertext = try session.result {
            try key.encrypt(plaintext, by: choice.algorithm)
        }
        if json {
            let answer = Answer(algorithm: choice.name, ciphertext: ciphertext.base64EncodedString())
            return try StandardOutput.write(json: answer)
        }
        try BytesOutput.write(
            encoding.encoding(of: ciphertext), isText: encoding != .raw, remedy: KeyTerminal.remedy)
    }
}

/// Decrypts what was encrypted for a key.
struct DecryptCommand: DocumentedCommand {
    static let summary = "Decrypt standard input with a private key."
    static let details = """
        The algorithms are those of `keychain key encrypt`. Exactly the decrypted bytes are written to standard \
        output; on a terminal only if they are text. A person is asked if the key requires it.

        With --json, 'base64' always holds the decrypted bytes, and 'utf8' holds them as text if they are text.
        """
    static let examples = [
        Example("A file that was encrypted for the key", "keychain key decrypt backup < sealed > plain")
    ]
    static let configuration: CommandConfiguration = documented("decrypt")

    @OptionGroup var selection: KeySelection

    @Option(help: ArgumentHelp("The algorithm that it was encrypted with.", valueName: "name"))
    var algorithm: String?

    @Option(help: "The form of standard input.")
    var encoding: BytesEncoding = .raw

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var base64: String
        var utf8: String?
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        guard let ciphertext = encoding.decoding(try BytesInput.readAll()) else {
            throw Failure(
                status: errSecParam,
                "standard input is not \(encoding.rawValue): say with --encoding how it is written")
        }
        var options = try itemPassword.authentication()
        options.prompt = "decrypt with the key '\(pair.name)'."
        let key = try session.privateKey(of: pair, options)
        let choice = try AlgorithmChoice.encryption(algorithm, for: key, .decrypt)
        let plaintext = try session.result {
            try key.decrypt(ciphertext, by: choice.algorithm)
        }
        if json {
            let text = String(validating: plaintext, as: UTF8.self)
            return try StandardOutput.write(json: Answer(base64: plaintext.base64EncodedString(), utf8: text))
        }
        try BytesOutput.write(plaintext, remedy: "send it to a file, or say --json")
    }
}
