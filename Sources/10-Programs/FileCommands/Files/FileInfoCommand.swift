import ArgumentParser
import Bytes
import CommandKit
import DatabaseFiles
import DatabasePages
import FoundationEssentials
import PasswordFiles
import ProtectedFiles

/// Shows what files say about themselves, without opening them.
struct FileInfoCommand: DocumentedCommand {
    static let summary = "Show the class and size of protected and encrypted files."
    static let details = """
        Works while the class is closed. Shows what the file says about itself, which anybody could have written: \
        `keychain file verify` checks it. For a folder, it shows the protected and encrypted files in it and below it, \
        and counts the others; --all shows them too. `keychain db info` says more of an encrypted database.
        """
    static let examples = [
        Example("One file", "keychain file info ~/Records/tax.pdf"),
        Example("For a script", "keychain file info ~/Records --json"),
    ]
    static let configuration: CommandConfiguration = documented("info")

    @Argument(help: "Files and folders.", completion: .file())
    var paths: [String]

    @Flag(help: "Show the files of folders that are not protected, too.")
    var all = false

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var path: String
        /// Nil for a plain file. "database" and "database-index" are the two files of an encrypted database.
        var `class`: String?
        var bytes: UInt64
        var identifier: String?
        /// What one try of a password costs.
        var cost: String?

        init(_ path: String, bytes: UInt64, identifier: Data? = nil) {
            (self.path, self.bytes) = (path, bytes)
            self.identifier = identifier?.hexadecimal()
        }

        private enum Keys: CodingKey { case path, `class`, bytes, identifier, cost }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(path, forKey: .path)
            // A script asks every entry for it.
            try container.encode(`class`, forKey: .class)
            try container.encode(bytes, forKey: .bytes)
            try container.encodeIfPresent(identifier, forKey: .identifier)
            try container.encodeIfPresent(cost, forKey: .cost)
        }

        var kind: String {
            switch `class` {
            case nil: "not protected"
            case FileInfoCommand.database: "encrypted database"
            case FileInfoCommand.databaseIndex: "page index of an encrypted database"
            case let name?: cost.map { "\(name) (\($0))" } ?? name
            }
        }
    }

    func run() throws {
        let files = try FileTree(paths, marks: false).files
        var answers: [Answer] = []
        for file in files {
            let (path, size) = (file.path, file.size)
            do throws(SealedFileError) {
                let info = try SealedFileInfo(path)
                var answer = Answer(path, bytes: info.length, identifier: info.identifier)
                answer.class = info.fileClass.commandName
                answers.append(answer)
            } catch {
                switch error {
                case .notProtected, .system:
                    var answer = Answer(path, bytes: size)
                    // A mounted folder tells the class even of a file that cannot be opened.
                    let mounted = try MountedClass.read(path)
                    if mounted == nil, error != .notProtected(path: path) { throw error }
                    answer.class = mounted?.commandName ?? Self.databaseClass(path)
                    answers.append(answer)
                case .encryptedWithPassword: answers.append(try Self.underPassword(path))
                default: throw error
                }
            }
        }
        let operands = Set(paths)
        let found = answers.count
        if !all { answers.removeAll { $0.class == nil && !operands.contains($0.path) } }
        if json { return try StandardOutput.write(json: answers) }
        let plain = found - answers.count
        if plain > 0 {
            CommandNote.show(
                "\(plain) \(plain == 1 ? "file is" : "files are") not protected: --all shows "
                    + (plain == 1 ? "it" : "them"))
        }
        guard !answers.isEmpty else { return }
        let rows = answers.map {
            [
                $0.path.escapedForTerminal, $0.kind,
                StandardOutput.isTerminal ? FileProgress.amount(Double($0.bytes)) : String($0.bytes),
            ]
        }
        try StandardOutput.write(Table(rows, heads: ["file", "class", "size"]))
    }

    private static let database = "database"
    private static let databaseIndex = "database-index"

    /// What a file is to a database that is encrypted as a whole; nil for any other file.
    private static func databaseClass(_ path: String) -> String? {
        if (try? ProtectedDatabaseFile(path: path, preparing: TextFunctions.add).header()) != nil { return database }
        let ending = path.suffix(27)
        let isIndex =
            ending.count == 27 && ending.first == "-" && ending.hasSuffix(".pages")
            && DatabaseID(hexadecimal: ending.dropFirst().prefix(20)) != nil
        return isIndex ? databaseIndex : nil
    }

    private static func underPassword(_ path: String) throws -> Answer {
        let header = try PasswordFileHeader(path)
        var answer = Answer(path, bytes: header.length, identifier: header.identifier)
        answer.class = "password"
        answer.cost = try WrappedUnderPassword(header.wrapped, path: path).cost.description
        return answer
    }
}
