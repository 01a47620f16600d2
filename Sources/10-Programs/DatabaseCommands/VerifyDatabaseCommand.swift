import ArgumentParser
import CommandKit
import DatabaseFiles
import StatusCodes

/// Checks databases for damage.
struct VerifyDatabaseCommand: DocumentedCommand {
    static let summary = "Check databases for damage."
    static let details = """
        Opens every page in use, which shows whether one was changed or put back from an older copy, and has SQLite \
        check that the pages fit together. Other programs may use the database meanwhile. Of a \
        SQLCipher file nobody can say whether a page was put back from an older copy.
        """
    static let examples = [Example("A database", "keychain db verify app.db")]
    static let configuration: CommandConfiguration = documented("verify")

    @Argument(help: "Encrypted databases, and SQLCipher files.", completion: .file())
    var paths: [String]

    @OptionGroup var given: SQLCipherInput

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var path: String
        var problems: [String]
        /// Why the database could not be checked.
        var error: String?
    }

    func validate() throws {
        guard paths.count == 1 || !given.hasKey else {
            throw ValidationError("a key is of one file: name one")
        }
    }

    func run() throws {
        var failures: [Failure] = []
        let answers = try withOwnersVault(passcode) {
            try paths.map { path in
                do {
                    return Answer(path: path, problems: try ProtectedDatabaseFile.existing(path, given).problems())
                } catch {
                    // The others are checked all the same.
                    let failure = Failure(error)
                    guard paths.count > 1, failure.status != errSecUserCanceled else { throw error }
                    failures.append(failure)
                    return Answer(path: path, problems: [], error: failure.message)
                }
            }
        }
        if json { try StandardOutput.write(json: answers) }
        for answer in answers where !json {
            for problem in answer.problems.prefix(20) {
                try StandardOutput.write(line: "\(answer.path.escapedForTerminal): \(problem.escapedForTerminal)")
            }
            if let error = answer.error {
                try StandardOutput.write(line: "\(answer.path.escapedForTerminal): not verified: \(error)")
            } else if answer.problems.isEmpty {
                try StandardOutput.write(line: "\(answer.path.escapedForTerminal): nothing is damaged")
            }
        }
        let damaged = answers.filter { !$0.problems.isEmpty }.count
        guard damaged == 0 else {
            throw Failure(
                status: errSecDecode, "\(damaged) of \(answers.count) databases are damaged: restore them from a backup"
            )
        }
        if let first = failures.first {
            throw Failure(
                status: first.status, exitCode: first.exitCode,
                "\(failures.count) of \(answers.count) databases could not be verified")
        }
    }
}
