import ArgumentParser
import CLibrary
import CommandKit
import FoundationEssentials
import ItemFiles
import KeychainModel
import PasswordFiles
import StatusCodes
import VaultInterface

/// Writes passwords to a file that one recipient can open.
struct SendCommand: DocumentedCommand {
    static let summary = "Write passwords with all their attributes to a sealed file, for another vault."
    static let details = """
        The file has the password of the account, or those of all accounts of the service, with their attributes, \
        dates and requirements. It is sealed to a key on P-256, or under a password that you type twice. `keychain \
        receive` takes the items in.

        The key is the recipient's: a public key in PEM, as `keychain key public` writes it, or a certificate. A \
        person is asked where reading the secret needs one. Items that are for this device only are refused.
        """
    static let examples = [
        Example(
            "The recipient makes a key", "keychain key create mine --enclave && keychain key public mine > mine.pem"),
        Example("To its owner", "keychain send mail.example.com alice --to mine.pem --output alice.items"),
        Example("A whole service, under a password", "keychain send mail.example.com --output mail.items"),
        Example("Through a pipe", "keychain send api ci --to mine.pem | ssh host keychain receive -"),
    ]
    static let configuration: CommandConfiguration = documented("send")

    @Argument(help: "What the secrets are for, such as a host or a program.", completion: .services)
    var service: String

    @Argument(help: "Whose secret it is; all accounts of the service if it is left out.", completion: .accounts)
    var account: String?

    @Option(
        help: ArgumentHelp(
            "The recipient's public key or certificate in PEM, instead of a password.", valueName: "file"),
        completion: .file())
    var to: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Where to write; standard output unless given.", valueName: "file"), completion: .file())
    var output = "-"

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @Flag(help: "Send expired secrets, too.")
    var expired = false

    @OptionGroup var scope: ItemScope
    @OptionGroup var password: PasswordInput
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var file: String
        var items: Int
        /// Which items those are.
        var names: [ItemName]
        /// How many expired items were left out.
        var expired: Int?
    }

    func validate() throws {
        if to != nil, password.descriptor != nil {
            throw ValidationError("--to and --password-fd exclude each other")
        }
        if json, output == "-" { throw ValidationError("--json needs --output with the name of a file") }
    }

    func run() throws {
        if output == "-", StandardOutput.isTerminal {
            throw Failure(
                status: errSecParam,
                "the file is binary and standard output is a terminal: name a file with --output")
        }
        let path = BackupFile.path(output)
        if !force, output != "-", access(path, F_OK) == 0 { throw BackupFile.exists(path) }
        let recipient = try to.map { try ItemTransfer.recipient(in: $0) }
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        var leftOut: [StoredItem] = []
        let items = try items(session, &leftOut)
        if !leftOut.isEmpty {
            let (was, pronoun) = leftOut.count == 1 ? ("item was", "it") : ("items were", "them")
            CommandNote.show(
                "\(leftOut.count) expired \(was) left out, \(leftOut.listed): send \(pronoun) with --expired")
        }
        let sealed: Data
        if let recipient {
            sealed = try ItemFile.seal(items, to: recipient)
        } else {
            sealed = try ItemFile.seal(items, under: PasswordFileKeys(password.askNew()))
        }
        guard output != "-" else { return try StandardOutput.write(sealed) }
        try BackupFile.write(to: path, isReplacing: force) { try FileOutput.write(sealed, to: $0) }
        if json {
            return try StandardOutput.write(
                json: Answer(
                    file: path, items: items.count, names: items.map(ItemName.init),
                    expired: leftOut.isEmpty ? nil : leftOut.count))
        }
        try StandardOutput.write(
            line:
                "\(items.count) \(items.count == 1 ? "item" : "items") sealed in \(path.escapedForTerminal): \(items.listed)"
        )
    }

    private func items(_ session: VaultSession, _ leftOut: inout [StoredItem]) throws -> [StoredItem] {
        let authentication = try itemPassword.authentication()
        if let account {
            var search = PasswordSearch(
                service: service, account: account, group: scope.group, synchronizable: scope.synchronizableScope,
                authentication: authentication)
            search.query.includesExpired = expired
            return [try search.one(in: session, includingValues: true)]
        }
        var query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service)],
            accessGroup: try scope.group ?? session.ownGroup, synchronizable: scope.synchronizableScope,
            authentication: authentication)
        query.authentication.prompt = "send the passwords of '\(service)'"
        query.includesExpired = expired
        // One more than a file can have is enough to refuse them, whatever there is.
        query.limit = ReceiveItems.most + 1
        query.reports = [.expired]
        return try session.perform(CopyItems(query, includingValues: true)) { part in
            if case .expired(let item) = part { leftOut.append(item) }
        }
    }
}

/// An item as `--json` names it.
private struct ItemName: Encodable {
    var service: AttributeText?
    var account: AttributeText?
    var group: String

    init(_ item: StoredItem) {
        service = item.attribute(.service).map(AttributeText.init)
        account = item.attribute(.account).map(AttributeText.init)
        group = item.accessGroup
    }
}

/// What the two commands have in common.
enum ItemTransfer {
    /// The recipient's key in a file.
    static func recipient(in path: String) throws -> ItemRecipient {
        let bytes = try BytesInput.readAll(path: path)
        return try ItemRecipient(pem: String(decoding: bytes, as: UTF8.self))
    }

    /// Reads at most as much as a file of items can have.
    static func read(_ file: String) throws -> Data {
        let name = file == "-" ? "standard input" : file
        let descriptor = file == "-" ? 0 : open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(name, errno) }
        defer { if descriptor > 0 { close(descriptor) } }
        do throws(DescriptorReader.Failure) {
            return try DescriptorReader.readAll(descriptor, limit: ItemFile.largest)
        } catch {
            switch error {
            case .tooLong:
                throw Failure(
                    status: errSecDataTooLarge,
                    "\(name.escapedForTerminal) has more than \(ItemFile.largestContents >> 20) MiB: it is no file that "
                        + "`keychain send` made")
            case .system(let code): throw failure(name, code)
            }
        }
    }

    private static func failure(_ name: String, _ code: Int32) -> Failure {
        Failure(
            status: errSecIO, exitCode: ExitStatus.other,
            "\(name.escapedForTerminal) cannot be read (\(String(cString: strerror(code)))): "
                + "name a file that you can read")
    }
}

extension Failure {
    init(_ error: ItemFileError) {
        if case .refused(let refusal) = error {
            self.init(refusal)
            return
        }
        let status: Int32 =
            switch error {
            case .unreadable, .damaged, .undecipherable: errSecDecode
            case .tooLarge: errSecDataTooLarge
            case .wrongPassphrase: errSecAuthFailed
            case .keyNotFound: errSecItemNotFound
            case .passphraseNeeded: errSecInteractionNotAllowed
            case .keyNeeded, .bound, .unsuitableRecipient, .refused: errSecParam
            case .keyFailed: errSecInternalComponent
            case .memoryUnavailable: errSecAllocate
            }
        self.init(
            status: status,
            error.description.replacing("; ", with: ": ").replacing("passphrase", with: "password"))
    }
}

extension ItemFileError: ReportedError {
    package var failure: Failure { Failure(self) }
}
