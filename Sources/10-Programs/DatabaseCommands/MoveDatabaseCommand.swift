import ArgumentParser
import CLibrary
import CommandKit
import DatabaseFiles
import ProcessVault
import VaultInterface

/// Gives a database another name.
struct MoveDatabaseCommand: DocumentedCommand {
    static let summary = "Give an encrypted database another name, with its second file."
    static let details = """
        An encrypted database is two files, and three if its key is in a file. All of them carry its name, so that \
        mv alone makes it unreadable. This command moves all of them, within a file system, and never replaces a file. \
        If it is interrupted, or if the database's file was renamed alone, run it with the same names: it finishes. \
        No program may have the database open meanwhile.
        """
    static let examples = [
        Example("Rename it", "keychain db move app.db notes.db"),
        Example("After 'mv app.db notes.db'", "keychain db move app.db notes.db"),
    ]
    static let configuration: CommandConfiguration = documented("move", aliases: ["mv"])

    @Argument(help: "An encrypted database.", completion: .file())
    var path: String

    @Argument(help: "Its new name, or a folder.", completion: .file())
    var target: String

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var path: String
        var formerPath: String
    }

    func run() throws {
        var information = stat()
        guard lstat(path, &information) != 0 || information.st_mode & S_IFMT != S_IFLNK else {
            throw Failure.usage("\(path.escapedForTerminal) is a link: name the database that it leads to")
        }
        let isFolder = stat(target, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let new = isFolder ? (target.hasSuffix("/") ? target : target + "/") + name : target
        try withOwnersVault(passcode) {
            let file = ProtectedDatabaseFile(path: new)
            try ProtectedDatabaseFile(path: path).move(to: file)
            let session = try VaultSession.current()
            // The name is for people alone.
            try? DatabaseKeyItems(new).name(new, session)
        }
        if json { return try StandardOutput.write(json: Answer(path: new, formerPath: path)) }
        try StandardOutput.write(line: "\(path.escapedForTerminal) is now \(new.escapedForTerminal)")
    }
}
