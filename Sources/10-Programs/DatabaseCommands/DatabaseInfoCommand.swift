import ArgumentParser
import CommandKit
import DatabaseFiles
import FoundationEssentials
import KeychainModel
import StatusCodes
import StoredKeys
import VaultInterface

/// Shows what databases are, without opening them.
struct DatabaseInfoCommand: DocumentedCommand {
    static let summary = "Show the kind of databases, and where their keys are kept."
    static let details = """
        Nothing is opened. The keychain tells where a key is kept, which takes the passcode if the vault was not \
        unlocked since the start. A SQLCipher file looks like random bytes, and is recognized only if the keychain has \
        its key.
        """
    static let examples = [
        Example("A database", "keychain db info app.db"),
        Example("For a script", "keychain db info app.db --json"),
    ]
    static let configuration: CommandConfiguration = documented("info")

    @Argument(help: "Databases, encrypted or plain, and SQLCipher files.", completion: .file())
    var paths: [String]

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let summaries = try withOwnersVault(passcode) {
            try paths.map { path in
                do {
                    return DatabaseSummary(path, try ProtectedDatabaseFile.existing(path).info())
                } catch ProtectedDatabaseError.Code.notEncrypted {
                    return DatabaseSummary(path, try ProtectedDatabaseFile(path: path).info())
                }
            }
        }
        if json { return try StandardOutput.write(json: summaries) }
        for summary in summaries { try StandardOutput.write(line: summary.line) }
    }
}

/// What the command says about a database.
struct DatabaseSummary: Encodable {
    var path: String
    var bytes: UInt64
    var encrypted: Bool
    /// "keychain", "sqlcipher" or "sqlite".
    var format: String
    var id: String?
    var pageSize: Int?
    /// Where the key is kept, in the words of --key-in; nil if no key can be seen.
    var key: DatabaseKeyOptions.Place?
    var `class`: String?
    var accessGroup: String?
    var requires: [String]?
    /// The password that is the key of a SQLCipher file.
    var item: CipherKeyItem?

    init(_ path: String, _ info: ProtectedDatabaseFile.Info) {
        self.path = path
        bytes = info.size
        encrypted = info.isEncrypted
        let isOwn = info.pageSize != nil
        format = !info.isEncrypted ? "sqlite" : isOwn ? "keychain" : "sqlcipher"
        id = isOwn ? info.identifier : nil
        item = isOwn ? nil : info.identifier.map { CipherKeyItem(account: $0) }
        pageSize = info.pageSize
        key = info.key?.place.option
        `class` =
            info.key?.protection.flatMap { FileProtectionClass(of: $0) }?.commandName
            ?? info.key?.accessible.flatMap { ProtectionClass(rawValue: $0) }.map { ProtectionName($0).rawValue }
        accessGroup = info.key?.accessGroup
        requires = ItemRequirement.names(in: info.key?.accessControl?.flags)
    }

    var line: String {
        let name = path.escapedForTerminal
        if let item {
            let needs = requires.map { ", requires \($0.joined(separator: ", "))" } ?? ""
            return "\(name): SQLCipher file, \(FileProgress.amount(Double(bytes))), class \(`class` ?? "?"), key in "
                + "\(key?.description ?? "?"): '\(item.service)' '\(item.account)'\(needs)"
        }
        guard encrypted else { return "\(name): plain, \(FileProgress.amount(Double(bytes)))" }
        let size = "\(FileProgress.amount(Double(bytes))) in pages of \(pageSize ?? 0)"
        guard let key else {
            return "\(name): encrypted, \(size), no key for it is in this keychain" + DatabaseKeyItems.wayBack(of: path)
        }
        let group = accessGroup.map { ", group '\($0.escapedForTerminal)'" } ?? ""
        let needs = requires.map { ", requires \($0.joined(separator: ", "))" } ?? ""
        return "\(name): encrypted, \(size), class \(`class` ?? "?"), key in \(key.description)\(group)\(needs)"
    }
}

extension FileProtectionClass {
    init?(of type: FileProtectionType) {
        guard let found = Self.allCases.first(where: { $0.rawType == type.rawValue }) else { return nil }
        self = found
    }

    private var rawType: String {
        switch self {
        case .complete: FileProtectionType.complete.rawValue
        case .completeUnlessOpen: FileProtectionType.completeUnlessOpen.rawValue
        case .completeUntilFirstUserAuthentication: FileProtectionType.completeUntilFirstUserAuthentication.rawValue
        case .none: FileProtectionType.none.rawValue
        }
    }
}
