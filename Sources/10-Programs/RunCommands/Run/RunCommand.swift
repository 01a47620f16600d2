import ArgumentParser
import Broker
import CLibrary
import CommandKit

/// Runs a program that knows nothing of the keychain with secrets in its environment or in files.
struct RunCommand: DocumentedCommand {
    static let summary = "Run a program with secrets in its environment or in files."
    static let details = """
        A reference names a secret: keychain://SERVICE/ACCOUNT, for a password as `keychain get` finds it. If that \
        means several items, add ?group=GROUP. All characters except letters, digits and -._~ are percent-encoded: %20 \
        for a space, %2F for a slash.

        All secrets are looked up before the program starts. If one is missing, it does not start. The program gets \
        this command's environment with the named variables in it, its standard input, output and error and no other \
        descriptor, and writes no core files. Its exit status becomes this command's: 128 plus the number of the \
        signal that ended it, 127 if the program is not there, and 126 if it cannot be run.

        With --env and --env-file alone, the program replaces this one. With the other options this program stays \
        beside it, and passes signals on.

        Files of --file and --template are in memory, for this user alone, and are wiped when the program has ended. A \
        template is any text with references in double braces, such as {{ keychain://db/alice }}; the secrets are put \
        in as they are, without quotes. A file of variables has NAME=VALUE lines, empty lines and lines that begin \
        with #. Values that are references are replaced; all others stay as they are, quotes included.

        With --reload or --restart, this program follows the secrets: when one that it gave to the program gets another \
        value, it writes the files anew, templates filled in again, and sends the program a signal, or ends it with \
        SIGTERM (after 10 seconds with SIGKILL) and starts it again. Each file is replaced in one step under its name. \
        The environment of a running program does not change, so --reload goes with files. If a secret cannot be read \
        again, because it was deleted or the vault is locked, the program keeps what it has.

        With --mask the program writes into pipes, and each secret that it prints is replaced by ********. So is each \
        line of a secret that has several, if it has 8 bytes or more. Other forms such as base64 are not masked, and \
        neither are secrets of less than 4 bytes, which is said on standard error. The \
        program then sees no terminal.

        With --broker the program does not get the secret. It gets a placeholder, and a proxy that puts the secret into \
        its requests to the server that the rule names, and takes it out of the answers. A rule is NAME=REFERENCE to \
        URL, and then: at ADDRESS, in PLACE (authorization, header:NAME, path, query, form, json, websocket, aws, aws-id), \
        methods GET,POST, times NUMBER, until TIME, ask, keeps MEMBER (of answers in JSON: the program gets placeholders \
        of these tokens, too). With postgres://USER@HOST/DATABASE as URL, the broker logs in at \
        PostgreSQL, and the program finds it by PGHOST and the like. `keychain audit --broker` shows the requests.

        With --project the rules are in the file .keychain-broker.toml of a project. They count only if their present \
        content was approved with `keychain broker approve`. Those of --broker are added.

        With --check nothing runs. What is said of each variable and rule is whether its secret is there; no value is \
        read, and nobody is asked. The exit status is 0 if nothing is missing, 44 if a secret is, and 1 otherwise.

        With --isolated the program runs in namespaces of its own, which bwrap makes. It reaches no network but the \
        broker, sees neither the vault nor the daemon, nor other processes, and opens no Unix sockets. It reads files \
        as before and writes in the current folder, which has to be a project's and not your home, in a /tmp of its \
        own, and where --writable says.

        Other programs of the same user can read the environment of a running program, and programs that it starts \
        inherit it. Files are the better way for programs that can read secrets from files.
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
            "A server that reads its key again",
            #"""
            keychain run --reload HUP --file KEY=keychain://tls/key -- \
                sh -c 'exec server --key "$KEY"'
            """#),
        Example(
            "A program that is started again with the new password",
            "keychain run --restart --env PGPASSWORD=keychain://db/app -- ./server"),
        Example(
            "Nothing of it in a log",
            #"""
            keychain run --mask --env TOKEN=keychain://ci/deploy -- \
                ./deploy > deploy.log 2>&1
            """#),
        Example(
            "A token that the program uses and never has",
            #"""
            keychain run --broker \
                'GH_TOKEN=keychain://github/agent to https://api.github.com' \
                -- ./agent
            """#),
        Example(
            "By the rules of the current project, which are approved",
            "keychain run --project . --isolated -- ./agent"),
        Example(
            "What is missing", "keychain run --env-file app.env --project . --check"),
        Example(
            "The same for a program that reaches nothing else",
            #"""
            keychain run --isolated --others refuse --broker \
                'GH_TOKEN=keychain://github/agent to https://api.github.com' \
                -- ./agent
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
            "Set the variables of a file, with references replaced by secrets. Other options take precedence.",
            valueName: "path"), completion: .file())
    var variableFiles: [String] = []

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp("Put a secret into a file, and its path into a variable.", valueName: "name=reference"))
    var files: [String] = []

    @Option(
        name: .customLong("template"),
        help: ArgumentHelp(
            "Put a copy of a file, with references in double braces replaced by secrets, into a file, and its path "
                + "into a variable.", valueName: "name=path"))
    var templates: [String] = []

    @Option(
        help: ArgumentHelp(
            "When a secret changes, write the files anew and send the program this signal.", valueName: "signal"))
    var reload: RunReaction.Signal?

    @Flag(help: "When a secret changes, end the program and start it again.")
    var restart = false

    @Flag(help: "Replace secrets by ******** in what the program prints.")
    var mask = false

    @Flag(
        name: .customLong("secret-service"),
        help: "Give the program a Secret Service, as on a desktop's bus, that keeps its secrets in the keychain.")
    var secretService = false

    @OptionGroup var broker: BrokerChoice

    @Option(
        help: ArgumentHelp(
            "What happens to connections to servers that no rule names: inspect, tunnel or refuse. Without this, what "
                + "the project says, or else inspect.", valueName: "what"))
    var others: BrokerSettings.Others?

    @Flag(help: "Run the program in namespaces: no network but the broker, no vault, no other processes.")
    var isolated = false

    @Option(
        help: ArgumentHelp("A folder or file that the isolated program may write, too.", valueName: "path"),
        completion: .directory)
    var writable: [String] = []

    @Option(
        help: ArgumentHelp("A folder or file that the isolated program does not see.", valueName: "path"),
        completion: .directory)
    var hidden: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Say at the end which servers got secrets. Without this, if standard error is a terminal.")
    var summary: Bool?

    @Flag(help: "Run nothing, and say which secrets, approvals and programs are missing.")
    var check = false

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print any error as JSON, and with --check the result.")
    var json = false

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program to run, with its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard check || !command.isEmpty else { throw ValidationError("name a program to run after --") }
        var names: Set<String> = []
        for variable in try named() {
            guard names.insert(variable.name).inserted else {
                throw ValidationError("the variable \(variable.name) is named twice: name each variable once")
            }
        }
        guard reload == nil || !restart else { throw ValidationError("choose one of --reload and --restart") }
        guard reload == nil || !files.isEmpty || !templates.isEmpty else {
            throw ValidationError(
                "--reload goes with --file or --template: use --restart for a program that gets secrets in variables")
        }
        guard !mask || reload == nil && !restart else {
            throw ValidationError("--mask knows only the first secrets: leave it out with --reload and --restart")
        }
        guard !secretService || reload == nil && !restart else {
            throw ValidationError("--secret-service serves one run: leave it out with --reload and --restart")
        }
        guard broker.isGiven || others == nil && broker.authority == nil && summary == nil else {
            throw ValidationError("--others, --broker-authority and --summary go with --broker or --project")
        }
        guard !isolated || broker.isGiven else { throw ValidationError("--isolated goes with --broker or --project") }
        guard isolated || writable.isEmpty && hidden.isEmpty else {
            throw ValidationError("--writable and --hidden go with --isolated")
        }
        guard !isolated || !secretService else {
            throw ValidationError("an isolated program opens no Unix socket: leave out --secret-service or --isolated")
        }
        for rule in broker.rules {
            guard let variable = rule.split(separator: "=").first, !names.contains(String(variable)) else {
                throw ValidationError("a variable of --broker is named by another option, too: name each variable once")
            }
        }
        try broker.validate(passcode)
        guard !broker.isGiven || reload == nil && !restart else {
            throw ValidationError("--broker and --project serve one run: leave it out with --reload and --restart")
        }
        guard mask || secretService || !names.isEmpty || !variableFiles.isEmpty || broker.isGiven else {
            throw ValidationError(
                "name what to give to the program: --env, --env-file, --file, --template, --broker, --project or "
                    + "--secret-service")
        }
    }

    func run() throws {
        if check { return try checkAll() }
        let places = isolated ? try IsolationPlaces(writable: writable, hidden: hidden) : nil
        let brokered = broker.isGiven ? try brokered(places) : nil
        let status = try SecretRun(
            variables: variables(), isMasking: mask, reaction: reaction, program: command[0],
            lookup: SecretLookup(passcode, itemPassword, for: command[0]),
            secretService: secretService ? passcode : nil,
            brokered: brokered, isSummarizing: summary ?? (isatty(2) == 1)
        ).run()
        throw ExitCode(status)
    }

    private func brokered(_ places: IsolationPlaces?) throws -> BrokeredSecrets {
        let brokered = try BrokeredSecrets(
            broker.rules, of: broker.file(), others: others, authority: broker.authority, places: places)
        let names = try Set(named().map(\.name))
        if let twice = brokered.rules.first(where: { names.contains($0.rule.variable) }) {
            throw Failure.usage(
                "the variable \(twice.rule.variable) is named by a rule and by another option: name each variable once")
        }
        try broker.validate(brokered, passcode)
        return brokered
    }

    private func checkAll() throws {
        var check = RunCheck(passcode)
        for variable in try variables() {
            switch variable.content {
            case .plain: break
            case .secret(let reference), .file(let reference): check.look(for: reference, named: variable.name)
            case .template(let path):
                for case .secret(let reference, _) in try SecretTemplate(reading: path).segments {
                    check.look(for: reference, named: variable.name)
                }
            }
        }
        if broker.isGiven { try check.look(at: broker.rules, of: broker.file()) }
        if isolated { for name in ["bwrap", "unshare"] { check.look(forProgram: name) } }
        if let name = command.first { check.look(forProgram: name) }
        try check.report(asJSON: json)
        throw ExitCode(check.status)
    }

    /// What happens when a secret changes; nil for nothing.
    private var reaction: RunReaction? { restart ? .restart : reload.map(RunReaction.signal) }

    /// Returns the variables of files and then those of options, which replace variables of the same name.
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

    /// No error repeats what was given, because somebody may have typed a secret.
    private static func variable(
        _ option: String, _ assignment: String, _ content: (String) throws -> RunVariable.Content
    ) throws -> RunVariable {
        guard let (name, rest) = RunVariable.parts(of: assignment), !rest.isEmpty else {
            throw ValidationError(
                "\(option) takes NAME=\(option == "--template" ? "path" : "reference"), with a name of letters, digits "
                    + "and '_', no digit first")
        }
        do {
            return RunVariable(name: name, content: try content(rest), place: name)
        } catch let problem as SecretReference.Problem {
            throw ValidationError("what \(option) has for \(name) \(problem.reason)")
        }
    }

    private static func reference(_ text: String) throws -> SecretReference { try SecretReference(text) }
}

extension BrokerSettings.Others: ExpressibleByArgument {}
