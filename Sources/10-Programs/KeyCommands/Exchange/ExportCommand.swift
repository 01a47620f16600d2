import ArgumentParser
import Bytes
import CLibrary
import Certificates
import CommandKit
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import PrivateFiles
import SecureMemory
import StatusCodes
import VaultInterface
import VaultKeys

/// Writes passwords, a certificate or a key for another program.
struct ExportCommand: DocumentedCommand {
    static let summary = "Write passwords, a certificate or a key for another program."
    static let details = """
        With --format cxf, bitwarden, kdbx, csv, otpauth or env, this writes passwords: those of one service, or all. They \
        go to the file of --output, which only you can read, or through a pipe, and never to a terminal. A file of \
        Bitwarden is encrypted under a password, unless you say --plain, and a database of KeePass (kdbx) always is; \
        the others are plain, which a warning says. --encrypt-to has `age` encrypt any of them. What cannot leave is \
        named: items for this device only, items that need a person, and keys of the keychain's own.

        With --format pem or der, this writes the certificate with this label, or if there is none the public key. A \
        private key is written only with --private or --pkcs12. With --private it is PKCS#8 and not encrypted: \
        anybody who reads the output has it. With --pkcs12 it is encrypted under a passphrase, together with its \
        certificate and those of the issuers that the keychain has. The passphrase is read from --passphrase-fd, or \
        typed twice. A person is asked if the key requires it. A key of the enclave never leaves it.
        """
    static let examples = [
        Example("Everything, for a password manager", "keychain export --format bitwarden --output all.json"),
        Example("Everything, for KeePassXC", "keychain export --format kdbx --output all.kdbx"),
        Example("One service, for another program", "keychain export db.example.com --format env --output db.env"),
        Example(
            "Everything, for whoever has an ssh key",
            #"""
            keychain export --format cxf --output all.json.age \
                --encrypt-to "$(cat ~/.ssh/id_ed25519.pub)"
            """#),
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

    @Argument(
        help: """
            The key's or certificate's label, its application tag, or the first 8 or more digits of the key's hash; \
            of passwords the service.
            """, completion: .services)
    var name: String?

    @Option(help: ArgumentHelp("Only items of this access group.", valueName: "group"), completion: .groups)
    var group: String?

    @Flag(exclusivity: .exclusive)
    var part: Part?

    @Option(
        help: ArgumentHelp(
            "The form of the output: pem, der, \(ExchangeWriter.formats.map(\.rawValue).joined(separator: ", ")).",
            valueName: "format"),
        completion: .list(["pem", "der"] + ExchangeWriter.formats.map(\.rawValue)))
    var format = DocumentFormat.pem.rawValue

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Where to write passwords; standard output unless given.", valueName: "file"),
        completion: .file())
    var output = "-"

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @Flag(help: "Do not encrypt a file that could be.")
    var plain = false

    @Option(
        name: .customLong("encrypt-to"),
        help: ArgumentHelp(
            "Encrypt the file with `age` for this recipient: its public key, or that of ssh. Repeat it for several.",
            valueName: "recipient"))
    var recipients: [String] = []

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase of the file from this open file descriptor.", valueName: "n"))
    var passphrase: Int32?

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func validate() throws {
        try OpenDescriptor.validate(passphrase)
        if let entries = entryFormat {
            guard part == nil else {
                throw ValidationError("--certificate, --public, --private and --pkcs12 are for keys")
            }
            guard !plain || !ExchangeWriter.alwaysEncrypts(entries) else {
                throw ValidationError("a file of '\(format)' is always encrypted: leave --plain out")
            }
            guard !plain || ExchangeWriter.canEncrypt(entries) else {
                throw ValidationError("--plain is for a format that can be encrypted, and '\(format)' cannot")
            }
            guard passphrase == nil || ExchangeWriter.canEncrypt(entries) && !plain else {
                throw ValidationError("--passphrase-fd is for a file that is encrypted")
            }
            guard recipients.isEmpty || !plain else {
                throw ValidationError("--plain and --encrypt-to exclude each other")
            }
            if json, output == "-" { throw ValidationError("--json needs --output with the name of a file") }
            return
        }
        guard DocumentFormat(rawValue: format) != nil else {
            throw ValidationError(
                "--format takes pem, der, \(ExchangeWriter.formats.map(\.rawValue).joined(separator: ", "))")
        }
        guard passphrase == nil || part == .pkcs12 else { throw ValidationError("--passphrase-fd goes with --pkcs12") }
        guard name != nil else { throw ValidationError("Missing expected argument '<name>'") }
        guard output == "-", !force, !plain, recipients.isEmpty else {
            throw ValidationError(
                "--output, --force, --plain and --encrypt-to are for passwords: send the output to a file")
        }
    }

    /// The format of passwords; nil for keys.
    private var entryFormat: ExchangeFormat? {
        ExchangeFormat(rawValue: format).flatMap { ExchangeWriter.formats.contains($0) ? $0 : nil }
    }

    private var selection: KeySelection {
        var selection = KeySelection()
        (selection.key, selection.group) = (name ?? "", group)
        return selection
    }

    func run() throws {
        if let entryFormat { return try exportEntries(as: entryFormat) }
        let format = DocumentFormat(rawValue: format) ?? .pem
        let selection = selection
        let session = try KeyCommandSession.forLooking(passcode)
        try (part == .pkcs12 ? .der : format).refuseTerminal()
        let certificates = part == nil || part == .certificate ? try certificates(selection, session) : []
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

    private struct Answer: Encodable {
        var file: String
        var entries: Int
        var isEncrypted: Bool
        /// What is not in the file, or not wholly.
        var left: [Left]

        struct Left: Encodable {
            var name: String
            var reason: String
        }
    }

    private func exportEntries(as format: ExchangeFormat) throws {
        guard output != "-" || !StandardOutput.isTerminal else {
            throw Failure(
                status: errSecParam, "passwords are not written to a terminal: name a file with --output, or use a pipe"
            )
        }
        if output != "-", !force, access(output, F_OK) == 0 { throw exists }
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        var export = EntryExport(session, group: group, name: name)
        let entries = try export.entries()
        guard !entries.isEmpty else {
            for left in export.left { CommandNote.show("left here: '\(left.name.escapedForTerminal)': \(left.reason)") }
            throw Failure(
                status: errSecItemNotFound, "there is no password to export: `keychain list` shows what there is")
        }
        // What age encrypts needs no password of its own.
        let isUnderPassword =
            ExchangeWriter.canEncrypt(format) && !plain
            && (recipients.isEmpty || ExchangeWriter.alwaysEncrypts(format))
        let secret = try isUnderPassword ? askPassphrase() : nil
        var (file, lost) = try ExchangeWriter.file(of: entries, as: format, password: secret, now: Date())
        if !recipients.isEmpty { file = try encrypted(file) }
        let isEncrypted = isUnderPassword || !recipients.isEmpty
        if output == "-" {
            try StandardOutput.write(file)
        } else {
            try write(file)
        }
        let left = export.left + lost
        if json {
            return try StandardOutput.write(
                json: Answer(
                    file: output, entries: entries.count, isEncrypted: isEncrypted,
                    left: left.map { .init(name: $0.name, reason: $0.reason) }))
        }
        for left in left { CommandNote.show("left here: '\(left.name.escapedForTerminal)': \(left.reason)") }
        if !isEncrypted {
            CommandNote.show(
                "the passwords are not encrypted in what was written: delete it as soon as the other program has it")
        }
        if output != "-" {
            try StandardOutput.write(
                line: "\(entries.count) \(entries.count == 1 ? "entry" : "entries") in \(output.escapedForTerminal)")
        }
    }

    /// Returns the file as `age` encrypts it, which gets it through a pipe.
    private func encrypted(_ file: Data) throws -> Data {
        guard ToolProcess.exists("age") else {
            throw Failure(status: errSecUnimplemented, "--encrypt-to needs age, which is not here: install it")
        }
        let words = ["age", "--encrypt"] + recipients.flatMap { ["--recipient", $0] }
        guard let encrypted = ToolProcess.run(words, input: file, limit: 2 * file.count + (1 << 20)) else {
            throw Failure(
                status: errSecParam,
                "age does not take these recipients: give public keys, as in --encrypt-to age1… or a line of id_ed25519.pub"
            )
        }
        return encrypted
    }

    private var exists: Failure {
        Failure(
            status: errSecParam,
            "\(output.escapedForTerminal) exists already: choose another name, or say --force to replace it")
    }

    private func write(_ file: Data) throws {
        do {
            try FileReplacement.make(output, by: "\(output).\(UUID().uuidString.prefix(8))", isReplacing: force) {
                try FileOutput.write(file, to: $0)
            }
        } catch let error as FileReplacement.Failure {
            guard error.errno != EEXIST else { throw exists }
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(output.escapedForTerminal) cannot be written (\(String(cString: strerror(error.errno)))): name a file "
                    + "in a folder that you can write to")
        }
    }

    private func certificates(_ selection: KeySelection, _ session: KeyCommandSession) throws -> [Data] {
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
