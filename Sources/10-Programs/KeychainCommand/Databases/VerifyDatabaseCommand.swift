import ArgumentParser
import DatabaseFiles
import SQLCipherService
import SQLCipherWire
import StatusCodes
import VaultInterface

/// Checks databases for damage.
struct VerifyDatabaseCommand: DocumentedCommand {
    static let summary = "Check databases for damage."
    static let details = """
        Opens every page in use, which shows whether one was changed or put back from an older copy, and has SQLite \
        check that the pages fit together. Other programs may use the database meanwhile. For a SQLCipher file whose \
        key the keychain has, SQLCipher opens every page in use; it does not notice older copies.
        """
    static let examples = [Example("A database", "keychain db verify app.db")]
    static let configuration: CommandConfiguration = documented("verify")

    @Argument(help: "Encrypted databases, and SQLCipher files whose key the keychain has.", completion: .file())
    var paths: [String]

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var path: String
        var problems: [String]
        /// Why the database could not be checked.
        var error: String?
    }

    func run() throws {
        var failures: [Failure] = []
        let answers = try withOwnersVault(passcode) {
            try paths.map { path in
                do {
                    return Answer(path: path, problems: try Self.problems(path))
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

    private static func problems(_ path: String) throws -> [String] {
        do {
            return try ProtectedDatabaseFile(path: path).problems()
        } catch ProtectedDatabaseError.Code.notDatabase {
            // It may be a file of SQLCipher's.
        }
        let keys = CipherFileKeys()
        guard let item = try keys.find(path) else { throw Failure.unknownDatabase(path) }
        let key = try keys.read(item)
        return try namingDatabase(path) {
            let database = try SQLCipherDatabase(path, key: key, readOnly: true)
            do throws(SQLCipherError) {
                let found = try database.integrityProblems()
                try database.close()
                return found.flatMap { $0.split(separator: "\n").map(String.init) }
            } catch {
                // A page that does not authenticate ends the check.
                guard error.code == .damaged else { throw error }
                return [error.description]
            }
        }
    }
}
