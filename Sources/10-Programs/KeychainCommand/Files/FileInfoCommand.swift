import ArgumentParser
import Bytes
import FoundationEssentials
import KeychainModel
import PasswordFiles
import ProtectedFiles
import VaultInterface

/// Shows what files say about themselves, without opening them.
struct FileInfoCommand: DocumentedCommand {
    static let summary = "Show the class and size of protected and encrypted files."
    static let details = """
        Works while the class is closed. Shows what the file says about itself, which anybody could have written: \
        `keychain file verify` checks it.
        """
    static let examples = [
        Example("One file", "keychain file info ~/Records/tax.pdf"),
        Example("For a script", "keychain file info ~/Records --json"),
    ]
    static let configuration: CommandConfiguration = documented("info")

    @Argument(help: "Files and folders.", completion: .file())
    var paths: [String]

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var path: String
        /// Nil for a plain file.
        var `class`: String?
        var bytes: UInt64
        var identifier: String?
        /// What one try of a password costs.
        var cost: String?

        init(_ path: String, bytes: UInt64, identifier: Data? = nil) {
            (self.path, self.bytes) = (path, bytes)
            self.identifier = identifier?.hexadecimal()
        }

        var kind: String {
            guard let `class` else { return "not protected" }
            return cost.map { "\(`class`) (\($0))" } ?? `class`
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
                    answer.class = mounted?.commandName
                    answers.append(answer)
                case .encryptedWithPassword: answers.append(try Self.underPassword(path))
                default: throw error
                }
            }
        }
        if json { return try StandardOutput.write(json: answers) }
        guard !answers.isEmpty else { return }
        let rows = answers.map { [$0.path.escapedForTerminal, $0.kind, String($0.bytes)] }
        try StandardOutput.write(line: Table(rows).text(aligned: StandardOutput.isTerminal))
    }

    private static func underPassword(_ path: String) throws -> Answer {
        let header = try PasswordFileHeader(path)
        var answer = Answer(path, bytes: header.length, identifier: header.identifier)
        answer.class = "password"
        answer.cost = try WrappedUnderPassword(header.wrapped, path: path).cost.description
        return answer
    }
}
