import ArgumentParser
import Bytes
import Certificates
import CommandKit
import FoundationEssentials
import KeychainModel
import SecureMemory
import StatusCodes
import VaultInterface
import VaultKeys

/// Writes a certificate or a key.
struct ExportCommand: DocumentedCommand {
    static let summary = "Write a certificate or a key to standard output."
    static let details = """
        Without an option for the part, this writes the certificate with this label, or if there is none the public \
        key. A private key is written only with --private or --pkcs12. With --private it is PKCS#8 and not encrypted: \
        anybody who reads the output has it. With --pkcs12 it is encrypted under a passphrase, together with its \
        certificate and those of the issuers that the keychain has. The passphrase is read from --passphrase-fd, or \
        typed twice. A person is asked if the key requires it. A key of the enclave never leaves it.
        """
    static let examples = [
        Example("A certificate", "keychain export www > www.pem"),
        Example("A public key in DER", "keychain export www --public --format der > www.der"),
        Example("Certificate and private key for another program", "keychain export Alice --pkcs12 > alice.p12"),
    ]
    static let configuration: CommandConfiguration = documented("export")

    enum Part: String, EnumerableFlag {
        case certificate, `public`, `private`, pkcs12

        static func help(for part: Part) -> ArgumentHelp? {
            switch part {
            case .certificate: "The certificate, or all with this label."
            case .public: "The public key."
            case .private: "The private key, not encrypted."
            case .pkcs12: "The private key and its certificates, under a passphrase."
            }
        }
    }

    @OptionGroup var selection: KeySelection

    @Flag(exclusivity: .exclusive)
    var part: Part?

    @Option(help: "The form of the output: pem or der.")
    var format: DocumentFormat = .pem

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase for PKCS#12 from this open file descriptor.", valueName: "n"))
    var passphrase: Int32?

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func validate() throws {
        try OpenDescriptor.validate(passphrase)
        guard passphrase == nil || part == .pkcs12 else { throw ValidationError("--passphrase-fd goes with --pkcs12") }
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        try (part == .pkcs12 ? .der : format).refuseTerminal()
        let certificates = part == nil || part == .certificate ? try certificates(session) : []
        if !certificates.isEmpty {
            guard certificates.count == 1 || format == .pem else {
                throw Failure(
                    status: errSecParam,
                    "\(certificates.count) certificates are called '\(selection.key.escapedForTerminal)': write them "
                        + "with --format pem, or choose one with --group")
            }
            for der in certificates { try format.write(der, as: "CERTIFICATE") }
            return
        }
        guard part != .certificate else {
            throw Failure(
                status: errSecItemNotFound,
                "there is no certificate '\(selection.key.escapedForTerminal)': `keychain import` stores one")
        }
        let pair = try selection.one(in: session)
        var options = try itemPassword.authentication()
        guard part == .private || part == .pkcs12 else {
            let key = try session.publicKey(of: pair, options)
            let encoding: PublicKeyFormat = format == .pem ? .pem : .der
            return try StandardOutput.write(encoding.encoding(of: key, comment: ""))
        }
        options.prompt = "hand out the private key '\(pair.name)'."
        let key = { [options] in try Self.encoding(of: session.privateKey(of: pair, options), pair) }
        guard part == .pkcs12 else { return try format.write(key(), as: "PRIVATE KEY") }
        let identity = ExportedIdentity(session: session, pair: pair)
        try StandardOutput.write(identity.encoded(key: key, passphrase: askPassphrase))
    }

    private func askPassphrase() throws -> SecretBytes {
        if let passphrase { return try PasscodeInput.read(passphrase) }
        guard let terminal = CommandTerminal() else {
            throw PasscodeInput.nobodyToAsk("--passphrase-fd", for: "the passphrase of the file")
        }
        var typed = try terminal.askSecrets(["Passphrase for the file: ", "Passphrase again: "])
        defer { for index in typed.indices { typed[index].wipe() } }
        guard typed.count == 2, isEqualInConstantTime(typed[0], typed[1]) else {
            throw Failure(status: errSecParam, "the two passphrases differ: try again")
        }
        return try PasscodeInput.only([typed[0]])
    }

    /// A private key as PKCS#8.
    private static func encoding(of key: VaultKey, _ pair: KeyPair) throws -> Data {
        guard key.kept == nil else {
            throw Failure(
                status: errSecUnimplemented,
                "the key '\(pair.name)' is in the enclave and cannot leave it: make a new one where it is needed")
        }
        do {
            return try key.keyData.privateKeyInfo() ?? Data()
        } catch {
            throw Failure(status: errSecDecode, "the private key cannot be written: \(error)")
        }
    }

    private func certificates(_ session: KeyCommandSession) throws -> [Data] {
        let query = ItemQuery(
            itemClass: .certificate, attributes: [.label: .string(selection.key)], accessGroup: selection.group,
            synchronizable: .any)
        do {
            return try session.session.perform(CopyItems(query, includingValues: true))
                .compactMap(\.value)
        } catch {
            guard error == .itemNotFound else { throw error }
            return []
        }
    }
}
