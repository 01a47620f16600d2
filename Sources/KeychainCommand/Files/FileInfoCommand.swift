import ArgumentParser
import Foundation
import KeychainModel
import KeychainServices
import ProtectedFiles
import VaultInterface

/// What files tell of themselves without being opened.
struct FileInfoCommand: DocumentedCommand {
    static let summary = "Show the class and size of protected files."
    static let details = """
        This works while the class is closed, and reads what anybody could have written into the file: `keychain file \
        verify` checks it.
        """
    static let examples = [
        Example("One file", "keychain file info ~/Records/tax.pdf"),
        Example("For a script", "keychain file info ~/Records --json"),
    ]
    static let configuration: CommandConfiguration = documented("info")

    @Argument(help: "Files and folders.")
    var paths: [String]

    @Flag(help: "Print it, and any error, as JSON.")
    var json = false

    private struct Answer: Encodable {
        var path: String
        /// Nil for a plain file.
        var `class`: String?
        var bytes: UInt64
        var identifier: String?
    }

    func run() throws {
        let files = try FileTree(paths).files
        var answers: [Answer] = []
        for (path, size) in files {
            do throws(SealedFileError) {
                let info = try SealedFileInfo(path)
                let identifier = info.identifier.map { String(format: "%02x", $0) }.joined()
                answers.append(
                    Answer(path: path, class: info.fileClass.commandName, bytes: info.length, identifier: identifier))
            } catch {
                guard case .notProtected = error else { throw Failure(error) }
                answers.append(Answer(path: path, class: nil, bytes: size, identifier: nil))
            }
        }
        if json { return try StandardOutput.write(json: answers) }
        guard !answers.isEmpty else { return }
        let rows = answers.map { [$0.path.escapedForTerminal, $0.class ?? "not protected", String($0.bytes)] }
        try StandardOutput.write(line: Table(rows).text(aligned: StandardOutput.isTerminal))
    }
}
