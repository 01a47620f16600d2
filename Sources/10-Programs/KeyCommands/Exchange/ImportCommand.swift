import Access
import ArgumentParser
import Bytes
import Certificates
import CommandKit
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import VaultInterface
import VaultKeys

/// Stores the certificates and keys of a file, or what a desktop's keyring has.
struct ImportCommand: DocumentedCommand {
    static let summary = "Store what another program hands over: passwords, one-time codes, keys, certificates."
    static let details = """
        Passwords, notes and one-time codes come from a file of FIDO's Credential Exchange Format, of Bitwarden (also \
        under a password), KeePass and KeePassXC (.kdbx), 1Password (.1pux), Aegis or Google Authenticator \
        (`otpauth-migration://`), from the CSV of Chrome, Firefox, Safari or Apple Passwords, from .env, .netrc, or \
        from `security dump-keychain -d` of macOS. A login with an address becomes an internet password, which \
        `keychain internet list` shows; another one becomes a password with its title as the service. Dates, notes, \
        addresses, fields, passkeys and former passwords are kept. --dry-run shows what would happen. What is here \
        already stays, unless you say --replace. The import can be repeated: it stores what is missing.

        Files that are attached to entries are kept in the item `entry-details`, or, with --files, as protected files \
        in a folder, which `keychain file cat` reads.

        Certificates and keys come from PEM, with any number of them; DER of one; PKCS#8, not encrypted; or PKCS#12. \
        A certificate and its private key are an identity. Items that are there already stay as they are. A key gets \
        the label of --label, or else that of its certificate, or else the file's name.

        The file is told by its contents; --format names the format where that is not enough. Its password or \
        passphrase is read from --passphrase-fd, or asked for at the terminal. The file itself is left alone: remove \
        it if it has secrets.
        """
    static let examples = [
        Example("What Bitwarden exported, first as a trial", "keychain import bitwarden.json --dry-run"),
        Example("The passwords of a browser", "keychain import Chrome-passwords.csv"),
        Example("A database of KeePassXC, with its files", "keychain import my.kdbx --files ~/Records"),
        Example("A store of pass", "keychain import pass"),
        Example("A certificate that an authority sent", "keychain import www.pem --label www"),
        Example("An identity, with its passphrase in a file", "keychain import alice.p12 --passphrase-fd 3 3< phrase"),
        Example("The passwords of gnome-keyring or KWallet", "keychain import secret-service"),
        Example(
            "A key that asks for a person",
            "keychain import id_ecdsa.pem --label work --require presence"),
    ]
    static let configuration: CommandConfiguration = documented(
        "import", subcommands: [ImportSecretServiceCommand.self, ImportPassCommand.self])

    @Argument(help: "The file; '-' for standard input.", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("A name for people, for every certificate and key in the file.", valueName: "text"))
    var label: String?

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase of the file from this open file descriptor.", valueName: "n"))
    var passphrase: Int32?

    @Option(
        help: ArgumentHelp(
            "What the file is: keys, \(ExchangeFormat.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "format"),
        completion: .list([Self.keys] + ExchangeFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp("The key file of a KeePass database that has one.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    @Option(
        name: .customLong("files"),
        help: ArgumentHelp("Write attached files below this folder, as protected files.", valueName: "folder"),
        completion: .directory)
    var files: String?

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "The class of these files: complete (unless given), complete-unless-open, until-first-unlock or none.",
            valueName: "class"))
    var className: String?

    @Flag(name: .customLong("dry-run"), help: "Show what would be stored, and store nothing. For passwords.")
    var dryRun = false

    @Flag(help: "Replace what is here and differs by what is in the file. For passwords.")
    var replace = false

    @OptionGroup var protection: KeyProtection

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        try OpenDescriptor.validate(passphrase)
        guard className == nil || files != nil else { throw ValidationError("--class goes with --files") }
        guard label?.isEmpty != true else { throw ValidationError("a label has at least one character") }
        guard format == nil || format == Self.keys || ExchangeFormat(rawValue: format ?? "") != nil else {
            throw ValidationError(
                "--format takes keys, \(ExchangeFormat.allCases.map(\.rawValue).joined(separator: ", "))")
        }
    }

    private static let keys = "keys"

    func run() throws {
        guard let file else { throw ValidationError("name a file, or say `keychain import secret-service`") }
        var bytes = try BytesInput.readExport(file, limit: ExchangeReader.largest)
        if let text = try CodePicture.text(of: bytes, at: file) { bytes = text }
        let chosen = format.flatMap(ExchangeFormat.init(rawValue:))
        let told = format == nil && !ImportedFile.isMeant(bytes) ? ExchangeReader.format(of: bytes) : nil
        if let format = chosen ?? told { return try importEntries(bytes, format, file) }
        guard keyFile == nil, files == nil else {
            throw Failure.usage("--key-file and --files are for passwords, and this file has none that are known")
        }
        guard !dryRun, !replace else {
            throw Failure.usage(
                "--dry-run and --replace are for passwords, and this is no file of a password manager that is known")
        }
        let imported = try certificatesAndKeys(in: bytes)
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
        try StandardOutput.write(Table(rows, heads: ["kind", "name", "what became of it"]))
    }

    private func certificatesAndKeys(in bytes: Data) throws -> ImportedFile {
        do {
            return try ImportedFile(bytes, passphrase: askPassphrase)
        } catch let failure as Failure where format == nil && failure.message == ImportedFile.unreadable.message {
            throw Failure(
                status: failure.status,
                "the file holds nothing that is known: name the format of passwords with --format; certificates and keys "
                    + "can be \(ImportedFile.forms)")
        }
    }

    /// Stores passwords and what belongs to them.
    private func importEntries(_ bytes: Data, _ format: ExchangeFormat, _ file: String) throws {
        guard label == nil, protection.require.isEmpty, protection.tag == nil, protection.accessible == nil else {
            throw Failure.usage("--label, --tag, --accessible and --require are for keys, and this file has passwords")
        }
        let name = file == "-" ? "imported" : URL(fileURLWithPath: file).lastPathComponent
        var contents: ExchangeContents
        do {
            contents = try ExchangeReader.entries(
                in: bytes, as: format, named: name,
                keyFile: keyFile.map { try BytesInput.readExport($0, limit: 64 << 20) },
                password: askPassphrase)
        } catch let error as ExchangeError {
            throw Failure(error)
        }
        let fileClass = try className.map { try FileProtectionClass(commandName: $0) } ?? .complete
        let session = try VaultSession.ofOwner(passcode)
        let attached = EntryFiles(
            folder: files.map { URL(fileURLWithPath: $0).path }, fileClass: fileClass, session: session, isTrial: dryRun
        )
        let problems = try attached.place(&contents.entries)
        let group = try protection.group ?? OtherTool.groupForNewItem ?? session.client.accessGroups.first ?? "keychain"
        var outcomes = try EntryImport(session, group: group, replaces: replace, isTrial: dryRun).run(contents.entries)
        outcomes += problems
        outcomes += contents.problems.map {
            .init(title: $0.name, result: $0.isLoss ? .refused : .leftOut, reason: $0.reason)
        }
        try EntryReport(outcomes, isTrial: dryRun).show(asJSON: json)
    }

    private func askPassphrase() throws -> SecretBytes {
        if let passphrase { return try PasscodeInput.read(passphrase) }
        guard let terminal = CommandTerminal() else {
            // A database that has a key file may have no password.
            if keyFile != nil { return try SecretBytes("") }
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
