import ArgumentParser
import FoundationEssentials
import KeyCryptography
import KeychainModel
import StatusCodes
import VaultKeys

/// Encrypts for a key.
struct EncryptCommand: DocumentedCommand {
    static let summary = "Encrypt what standard input has for the holder of a key."
    static let details = """
        Takes the public half. The usual algorithm is ECIES for keys on a curve and OAEP with AES-GCM for RSA, both for \
        data of any length. Others: \(EncryptionName.allCases.map(\.rawValue).joined(separator: ", ")); Apple's names \
        (algid:…) are taken as well. What comes out is what Apple's SecKeyCreateEncryptedData gives. Works while the \
        vault is locked.
        """
    static let examples = [
        Example("A file that only this keychain opens", "keychain key encrypt backup < plain > sealed"),
        Example("And back", "keychain key decrypt backup < sealed > plain"),
    ]
    static let configuration: CommandConfiguration = documented("encrypt")

    @OptionGroup var selection: KeySelection

    @Option(help: ArgumentHelp("How to encrypt.", valueName: "name"))
    var algorithm: String?

    @Option(help: "How to write the result.")
    var encoding: BytesEncoding = .raw

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print the result in base64, and any error, as JSON.")
    var json = false

    private struct Answer: Encodable {
        var algorithm: String
        var ciphertext: String
    }

    func run() throws {
        let session = try KeySession.forLooking(passcode)
        let pair = try selection.one(in: session)
        try KeyTerminal.refuse(encoding, unless: json)
        let key = try session.publicKey(of: pair, itemPassword.authentication())
        let choice = try AlgorithmChoice.encryption(algorithm, for: key, .encrypt)
        let plaintext = try BytesInput.readAll()
        let ciphertext = try session.result { () throws(KeyError) in
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
    static let summary = "Decrypt what standard input has with a private key."
    static let details = """
        The algorithms are those of `keychain key encrypt`. Exactly the decrypted bytes are written to standard output; \
        on a terminal only if they are text. A person is asked if the key wants it.

        With --json, 'base64' always has what was decrypted, and 'utf8' has it as text if it is text.
        """
    static let examples = [
        Example("A file that was encrypted for the key", "keychain key decrypt backup < sealed > plain")
    ]
    static let configuration: CommandConfiguration = documented("decrypt")

    @OptionGroup var selection: KeySelection

    @Option(help: ArgumentHelp("How it was encrypted.", valueName: "name"))
    var algorithm: String?

    @Option(help: "How standard input is written.")
    var encoding: BytesEncoding = .raw

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print the result, and any error, as JSON.")
    var json = false

    private struct Answer: Encodable {
        var base64: String
        var utf8: String?
    }

    func run() throws {
        let session = try KeySession.forLooking(passcode)
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
        let plaintext = try session.result { () throws(KeyError) in
            try key.decrypt(ciphertext, by: choice.algorithm)
        }
        if json {
            let text = String(validating: plaintext, as: UTF8.self)
            return try StandardOutput.write(json: Answer(base64: plaintext.base64EncodedString(), utf8: text))
        }
        try BytesOutput.write(plaintext, remedy: "send it to a file, or say --json")
    }
}
