import ArgumentParser
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes

/// Runs SQL on an encrypted database.
struct ShellCommand: DocumentedCommand {
    static let summary = "Run SQL on an encrypted database or on a SQLCipher file."
    static let details = """
        Statements are arguments, or come from standard input, or are typed. Without --write nothing can be changed.

        On a terminal, rows have heads and aligned columns, and a value of more than 64 characters is cut if there are \
        several columns. Elsewhere each row is printed with '|' between its values. NULL is printed as nothing and \
        bytes as X'…'. With --csv each statement prints a line of heads and its rows (RFC 4180). With --json, each \
        statement that has rows prints an array of objects, with bytes in Base64.

        At a terminal, lines are edited and repeated with readline or libedit if one of them is installed. Nothing \
        that was typed is kept after the end. Ctrl-C ends a statement that runs, and .quit the session.

        A SQLCipher file is read and changed in its own format; other programs may use it meanwhile. The keychain has \
        its key, or you give it.
        """
    static let examples = [
        Example("Look something up", "keychain db shell app.db 'SELECT count(*) FROM note'"),
        Example("Change something", "keychain db shell app.db --write < changes.sql"),
        Example("A SQLCipher file", "keychain db shell old.db --key-fd 3 3< key"),
    ]
    static let configuration: CommandConfiguration = documented("shell")

    @Argument(help: "An encrypted database, or a SQLCipher file.", completion: .file())
    var path: String

    @Argument(help: ArgumentHelp("Statements to run, instead of those typed or piped in.", valueName: "sql"))
    var statements: [String] = []

    @Flag(help: "Allow changes.")
    var write = false

    @OptionGroup var given: SQLCipherInput

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    @Flag(help: "Print comma-separated values.")
    var csv = false

    func validate() throws {
        guard !json || !csv else { throw ValidationError("--json and --csv exclude each other") }
    }

    func run() throws {
        let format: ShellFormat = json ? .json : csv ? .csv : StandardOutput.isTerminal ? .table : .lines
        try withOwnersVault(passcode) {
            try run(try DatabaseShell(.existing(path, given), isWriting: write, format: format))
        }
    }

    private func run(_ shell: DatabaseShell) throws {
        defer { shell.close() }
        if !statements.isEmpty {
            for statement in statements { try shell.run(statement) }
        } else if isatty(0) == 1 {
            try shell.runLines()
        } else {
            try shell.run(try Self.readInput())
        }
    }

    private static func readInput() throws -> String {
        let input: Data
        do throws(DescriptorReader.Failure) {
            input = try DescriptorReader.readAll(0, limit: 1 << 28)
        } catch {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "the statements cannot be read from standard input, or are more than 256 MiB: give them in parts")
        }
        guard let text = String(data: input, encoding: .utf8) else {
            throw Failure(status: errSecParam, "the statements are not UTF-8: nothing was run")
        }
        return text
    }
}
