import ArgumentParser
import Bytes
import Certificates
import CommandKit
import FoundationEssentials
import KeychainModel
import VaultInterface
import VaultKeys

/// Stores the certificates and keys of a file, or what a desktop's keyring has.
struct ImportCommand: DocumentedCommand {
    static let summary = "Store the certificates and keys of a file, or what a desktop's keyring has."
    static let details = """
        The file can be PEM, with any number of certificates and keys; DER of one; PKCS#8, not encrypted; or PKCS#12. \
        A certificate and its private key are an identity. Items that are there already stay as they are. The file \
        itself is left alone: remove it if it has a private key.

        A key gets the label of --label, or else that of its certificate, or else the file's name. The passphrase of a \
        PKCS#12 file is read from --passphrase-fd, or asked for at the terminal.
        """
    static let examples = [
        Example("A certificate that an authority sent", "keychain import www.pem --label www"),
        Example("An identity, with its passphrase in a file", "keychain import alice.p12 --passphrase-fd 3 3< phrase"),
        Example("The passwords of gnome-keyring or KWallet", "keychain import secret-service"),
        Example(
            "A key that asks for a person",
            "keychain import id_ecdsa.pem --label work --require presence"),
    ]
    static let configuration: CommandConfiguration = documented(
        "import", subcommands: [ImportSecretServiceCommand.self])

    @Argument(help: "The file; '-' for standard input.", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("A name for people, for every certificate and key in the file.", valueName: "text"))
    var label: String?

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase of the file from this open file descriptor.", valueName: "n"))
    var passphrase: Int32?

    @OptionGroup var protection: KeyProtection

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        try OpenDescriptor.validate(passphrase)
        guard label?.isEmpty != true else { throw ValidationError("a label has at least one character") }
    }

    func run() throws {
        guard let file else { throw ValidationError("name a file, or say `keychain import secret-service`") }
        let bytes = try file == "-" ? BytesInput.readDocument() : BytesInput.readAll(path: file)
        let imported = try ImportedFile(bytes, passphrase: askPassphrase)
        let contents = imported.contents
        let session = try KeyCommandSession.forWriting(passcode)
        try protection.check(session)
        let store = KeyStore(
            session: session, protection: protection,
            authentication: try itemPassword.authentication(isNew: protection.require.contains(.password)))
        var answers: [ImportAnswer] = []
        for content in contents {
            switch content {
            case .key(let key): answers.append(try add(key, label ?? label(of: key, in: contents, file), store))
            case .certificate(let certificate): answers.append(try add(certificate, session))
            }
        }
        if !imported.leftOut.isEmpty {
            CommandNote.show(
                "left out: \(imported.leftOut.joined(separator: ", ").escapedForTerminal). \(ImportedFile.types)")
        }
        if json { return try StandardOutput.write(json: answers) }
        let rows = answers.map { [$0.kind, $0.name.escapedForTerminal, $0.isNew ? "stored" : "was there already"] }
        try StandardOutput.write(line: Table(rows).text(aligned: StandardOutput.isTerminal))
    }

    private func askPassphrase() throws -> SecretBytes {
        if let passphrase { return try PasscodeInput.read(passphrase) }
        guard let terminal = CommandTerminal() else {
            throw PasscodeInput.nobodyToAsk("--passphrase-fd", for: "the passphrase of the file")
        }
        return try PasscodeInput.only(try terminal.askSecrets(["Passphrase of the file: "]))
    }

    /// Returns the name of the key's certificate in the file, or else that of the file.
    private func label(of key: KeyData, in contents: [ImportedFile.Content], _ file: String) -> String {
        for case .certificate(let certificate) in contents
        where certificate.publicKeyHash == key.applicationLabel {
            if let name = certificate.subjectSummary { return name }
        }
        return file == "-" ? "imported" : URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
    }

    private static let privateKey = "private key"

    private static func text(_ value: AttributeValue) -> String? {
        if case .string(let text) = value, !text.isEmpty { return text }
        return nil
    }

    /// The label of the certificate that is there already.
    private func storedName(_ attributes: ItemAttributes, _ session: KeyCommandSession) -> String? {
        let naming = attributes.filter { [.issuer, .serialNumber].contains($0.key) }
        let query = ItemQuery(
            itemClass: .certificate, attributes: naming, accessGroup: protection.group, synchronizable: .any,
            authentication: AuthenticationOptions(interaction: .skip))
        let found = try? session.session.perform(CopyItems(query, includingValues: false))
        return found?.first?.attributes[.label].flatMap(Self.text)
    }

    private func add(_ key: KeyData, _ label: String, _ store: KeyStore) throws -> ImportAnswer {
        let kind = key.keyClass == .private ? Self.privateKey : "public key"
        do {
            _ = try store.add(VaultKey(key), label: label, protection.accessControl(isEnclave: false))
            return ImportAnswer(kind: kind, name: label, isNew: true)
        } catch VaultError.duplicateItem {
            let stored = try store.session.inventory(store.group).pairs.first { $0.hash == key.applicationLabel }
            return ImportAnswer(kind: kind, name: stored?.label.flatMap(Self.text) ?? label, isNew: false)
        }
    }

    private func add(_ certificate: Certificate, _ session: KeyCommandSession) throws -> ImportAnswer {
        var attributes = certificate.storedAttributes
        if let label { attributes[.label] = .string(label) }
        let name = label ?? certificate.subjectSummary ?? "certificate"
        let item = NewItem(
            itemClass: .certificate, attributes: attributes, accessGroup: protection.group,
            value: certificate.encoded)
        do {
            try session.session.perform(AddItem(item))
            return ImportAnswer(kind: "certificate", name: name, isNew: true)
        } catch {
            guard error == .duplicateItem else { throw error }
            return ImportAnswer(kind: "certificate", name: storedName(attributes, session) ?? name, isNew: false)
        }
    }
}

/// One thing that was in a file.
private struct ImportAnswer: Encodable {
    var kind: String
    var name: String
    var isNew: Bool
}
