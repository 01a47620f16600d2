import Access
import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import StatusCodes
import SystemLibraries
import VaultInterface

/// Stores what a store of pass or gopass has.
struct ImportPassCommand: DocumentedCommand {
    static let name = "pass"
    static let summary = "Store what a store of pass or gopass has."
    static let details = """
        gpg decrypts each file of the store, or age if it ends in .age, and hands it over through a pipe; nothing of \
        it is on the disk in plain form. The first line is the password. Of the others, `login:`, `user:` or \
        `username:` is the account, `url:` or `website:` the address, and an otpauth:// line the one-time code; other \
        lines with a name are fields, and the rest is the note. The path is the folder and the title.

        The store is that of --store, of PASSWORD_STORE_DIR, ~/.password-store, or gopass's own, in this order. Files \
        that cannot be decrypted are named, and the others are stored. The store itself is left alone. The import can \
        be repeated: it stores what is missing.
        """
    static let examples = [
        Example("What would happen", "keychain import pass --dry-run"),
        Example("A store in another folder", "keychain import pass --store ~/team-passwords"),
        Example("A store of gopass under age", "keychain import pass --identity ~/.config/age/key.txt"),
    ]
    static let configuration: CommandConfiguration = documented(name)

    @Option(help: ArgumentHelp("The folder of the store.", valueName: "folder"), completion: .directory)
    var store: String?

    @Option(
        help: ArgumentHelp("The identity with which age decrypts files that end in .age.", valueName: "file"),
        completion: .file())
    var identity: String?

    @Option(help: ArgumentHelp("The access group of new items.", valueName: "group"))
    var group: String?

    @Option(
        help: ArgumentHelp(
            "How long each file may take, such as for typing a passphrase, in seconds.", valueName: "seconds")
    )
    var wait = 120

    @Flag(name: .customLong("dry-run"), help: "Show what would be stored, and store nothing.")
    var dryRun = false

    @Flag(help: "Replace what is here and differs by what is in the store.")
    var replace = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard (1...3_600).contains(wait) else { throw ValidationError("--wait takes 1 to 3600 seconds") }
    }

    func run() throws {
        let root = try folder()
        let files = try PassFiles(root)
        guard !files.paths.isEmpty || !files.unread.isEmpty else {
            throw Failure(
                status: errSecItemNotFound,
                "\(root.escapedForTerminal) has no file that ends in .gpg or .age: name the store with --store")
        }
        let session = try VaultSession.ofOwner(passcode)
        let group = try self.group ?? OtherTool.groupForNewItem ?? session.client.accessGroups.first ?? "keychain"
        var entries: [ExchangeEntry] = []
        var problems = files.unread.map { EntryImport.Outcome(title: $0.name, result: .refused, reason: $0.reason) }
        for (number, path) in files.paths.enumerated() {
            ItemProgress.show("decrypting", number, of: files.paths.count, from: 20)
            let name = String(path.prefix(path.count - 4))
            do throws(Refusal) {
                entries.append(try PassReader.entry(in: decrypt("\(root)/\(path)"), named: name))
            } catch {
                problems.append(.init(title: name, result: .refused, reason: error.reason))
            }
        }
        ItemProgress.end()
        problems += try EntryFiles(folder: nil, fileClass: .complete, session: session, isTrial: dryRun).place(&entries)
        let outcomes = try EntryImport(session, group: group, replaces: replace, isTrial: dryRun).run(entries)
        try EntryReport(outcomes + problems, isTrial: dryRun).show(asJSON: json)
    }

    private func folder() throws -> String {
        if let store { return store }
        if let store = Environment.value(of: "PASSWORD_STORE_DIR") { return store }
        let home = Environment.value(of: "HOME") ?? "/"
        let data = Environment.path(in: "XDG_DATA_HOME") ?? "\(home)/.local/share"
        let places = ["\(home)/.password-store", "\(data)/gopass/stores/root"]
        guard let place = places.first(where: { access($0, F_OK) == 0 }) else {
            throw Failure(
                status: errSecItemNotFound,
                "there is no store in ~/.password-store or where gopass has it: name the store with --store")
        }
        return place
    }

    /// Why a file cannot be read.
    private struct Refusal: Error {
        var reason: String
    }

    /// The most bytes of one file.
    private static let largest = 16 << 20

    private func decrypt(_ path: String) throws(Refusal) -> Data {
        let isAge = path.hasSuffix(".age")
        let command: [String]
        if isAge {
            guard let identity else { throw Refusal(reason: "age needs an identity: name it with --identity") }
            command = ["age", "--decrypt", "--identity", identity, "--", path]
        } else {
            command = ["gpg", "--batch", "--quiet", "--decrypt", "--", path]
        }
        guard let outcome = ToolProcess.outcome(of: command, limit: Self.largest, patience: .seconds(wait)) else {
            throw Refusal(reason: "\(command[0]) cannot be started (\(String(cString: strerror(errno)))): install it")
        }
        guard let status = outcome.status else {
            throw Refusal(reason: "\(command[0]) took longer than \(wait) seconds, or the file has more than 16 MiB")
        }
        guard status == 0 else {
            let line = outcome.errors.split(whereSeparator: \.isNewline).last.map(String.init)
            throw Refusal(reason: line ?? "\(command[0]) ended with status \(status)")
        }
        return outcome.output
    }
}

/// The encrypted files of a store, by their paths in it.
private struct PassFiles {
    private(set) var paths: [String] = []
    private(set) var unread: [(name: String, reason: String)] = []
    private static let deepest = 64
    private static let most = 200_000

    init(_ root: String) throws {
        var information = stat()
        guard stat(root, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(
                status: errSecItemNotFound,
                "\(root.escapedForTerminal) is no folder that can be read: name the store with --store")
        }
        try walk(root, "", 0)
        paths.sort()
    }

    /// Symbolic links and hidden files, such as those of git, are left alone.
    private mutating func walk(_ root: String, _ path: String, _ depth: Int) throws {
        guard depth < Self.deepest else { return unread.append((path, "the folder is too deep")) }
        let folder = path.isEmpty ? root : "\(root)/\(path)"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return unread.append((path, "the folder cannot be read"))
        }
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = path.isEmpty ? name : "\(path)/\(name)"
            var information = stat()
            guard lstat("\(root)/\(path)", &information) == 0 else { continue }
            if information.st_mode & S_IFMT == S_IFDIR {
                try walk(root, path, depth + 1)
            } else if information.st_mode & S_IFMT == S_IFREG, path.hasSuffix(".gpg") || path.hasSuffix(".age") {
                guard paths.count < Self.most else { throw Failure(ExchangeError.tooLarge) }
                paths.append(path)
            }
        }
    }
}
