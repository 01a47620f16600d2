import ArgumentParser
import FoundationEssentials
import Glibc
import KeychainModel

/// Runs a program that knows nothing of the keychain with secrets in its environment or in files.
struct RunCommand: DocumentedCommand {
    static let summary = "Run a program with secrets in its environment or in files."
    static let details = """
        A reference says which secret: keychain://SERVICE/ACCOUNT, with ?group=GROUP behind it where that means several \
        items, for a password as `keychain get` finds it. All but letters, digits and -._~ is percent-encoded: %20 for a \
        space, %2F for a slash.

        All secrets are looked up before the program starts; where one is missing, it does not start. It gets this \
        command's environment with the variables in it that are named, its standard input, output and error and no other \
        descriptor, and writes no core files. Its exit status becomes this command's: 128 and the number of a signal that \
        ended it, 127 when it is not there, and 126 when it cannot be run.

        With --env and --env-file alone the program takes the place of this one. With the other options this one stays \
        beside it, and passes signals on.

        Files of --file and --template are in memory, for this user alone, and are wiped when the program has ended. A \
        template is any text with references in double braces, such as {{ keychain://db/alice }}; the secrets are put in \
        as they are, without quotes. A file of variables has NAME=VALUE lines, empty lines and lines that begin with #; \
        values that are references are replaced, and all others stand as they are, quotes included.

        --mask has the program write into pipes, and puts ******** in the place of each secret that it prints, and of \
        each line of one that has 8 bytes or more, not of other forms such as base64. The program sees no terminal then.

        Other programs of the same user can read the environment of a running program, and whatever it starts inherits \
        it. Files are the better way for programs that read secrets from files.
        """
    static let examples = [
        Example(
            "A variable",
            "keychain run --env PGPASSWORD=keychain://com.example.db/alice -- psql"),
        Example("All variables of a file", "keychain run --env-file app.env -- ./server"),
        Example(
            "A file, whose path is in KEYFILE",
            #"""
            keychain run --file KEYFILE=keychain://backup/key -- \
                sh -c 'restic --password-file "$KEYFILE" backup ~'
            """#),
        Example(
            "A configuration that is filled in, whose path is in CONFIG",
            #"""
            keychain run --template CONFIG=in.conf -- \
                sh -c 'exec server --config "$CONFIG"'
            """#),
        Example(
            "Nothing of it in a log",
            #"""
            keychain run --mask --env TOKEN=keychain://ci/deploy -- \
                ./deploy > deploy.log 2>&1
            """#),
    ]
    static let configuration: CommandConfiguration = documented("run")

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp("Put a secret into a variable of the environment.", valueName: "name=reference"))
    var secrets: [String] = []

    @Option(
        name: .customLong("env-file"),
        help: ArgumentHelp(
            "Set the variables of a file, with secrets in the place of references. What other options set counts more.",
            valueName: "path"))
    var variableFiles: [String] = []

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp("Put a secret into a file, and its path into a variable.", valueName: "name=reference"))
    var files: [String] = []

    @Option(
        name: .customLong("template"),
        help: ArgumentHelp(
            "Put a copy of a file, with secrets in the place of references in double braces, into a file, and its path "
                + "into a variable.", valueName: "name=path"))
    var templates: [String] = []

    @Flag(help: "Put ******** in the place of secrets in what the program prints.")
    var mask = false

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print an error of this command as JSON.")
    var json = false

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program to run, with its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("name a program to run after --") }
        var names: Set<String> = []
        for variable in try named() {
            guard names.insert(variable.name).inserted else {
                throw ValidationError("the variable \(variable.name) is named twice: give each one thing")
            }
        }
        guard mask || !names.isEmpty || !variableFiles.isEmpty else {
            throw ValidationError("name what to give to the program: --env, --env-file, --file or --template")
        }
    }

    func run() throws {
        let status = try SecretRun(
            variables: variables(), isMasking: mask, program: command[0],
            lookup: SecretLookup(passcode, itemPassword, for: command[0])
        ).run()
        throw ExitCode(status)
    }

    /// What options name, with what files have of other names before them.
    private func variables() throws -> [RunVariable] {
        let named = try named()
        var names = Set(named.map(\.name))
        var read: [RunVariable] = []
        for path in variableFiles.reversed() {
            for variable in try VariableFile.read(path).reversed() where names.insert(variable.name).inserted {
                read.append(variable)
            }
        }
        return read.reversed() + named
    }

    /// The variables that options name.
    private func named() throws -> [RunVariable] {
        try secrets.map { try Self.variable("--env", $0) { .secret(try Self.reference($0)) } }
            + files.map { try Self.variable("--file", $0) { .file(try Self.reference($0)) } }
            + templates.map { try Self.variable("--template", $0) { .template(path: $0) } }
    }

    /// Nothing here repeats what was given: somebody may have typed a secret.
    private static func variable(
        _ option: String, _ assignment: String, _ content: (String) throws -> RunVariable.Content
    ) throws -> RunVariable {
        guard let (name, rest) = RunVariable.parts(of: assignment), !rest.isEmpty else {
            throw ValidationError(
                "\(option) takes NAME=\(option == "--template" ? "path" : "reference"), with a name of letters, digits and "
                    + "'_', no digit first")
        }
        do {
            return RunVariable(name: name, content: try content(rest), place: name)
        } catch let problem as SecretReference.Problem {
            throw ValidationError("what \(option) has for \(name) \(problem.reason)")
        }
    }

    private static func reference(_ text: String) throws -> SecretReference { try SecretReference(text) }
}
