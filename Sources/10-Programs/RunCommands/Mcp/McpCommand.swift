import Access
import ArgumentParser
import Broker
import CLibrary
import CommandKit
import KeychainDaemon
import VaultInterface

/// Serves the host of an agent.
struct McpCommand: DocumentedCommand {
    static let summary = "Let an agent use secrets that it never sees."
    static let details = """
        The host of an agent, such as Claude Code, starts this command and speaks the Model Context Protocol with it \
        over standard input and output. The agent can list the names of secrets, make requests with them, and have new \
        passwords made. No answer has a secret.

        A rule of --broker is that of `keychain run`: NAME=REFERENCE to URL, and then: at ADDRESS, in PLACE \
        (authorization, header:NAME, path, query, form, json), methods GET,POST, times NUMBER, until TIME, ask, keeps \
        MEMBER. The \
        agent writes {{NAME}} where the secret belongs. keychain-broker puts it into the request if the rule covers it, \
        and takes it out of the answer. Servers that no rule names are refused. `keychain audit --broker` shows the \
        requests.

        With --project the rules are those of a project, which `keychain broker approve` has to approve.

        The secrets are looked up at the first request. Whoever has to be asked is asked as elsewhere: by a pinentry \
        or at the terminal, never through the agent. The command ends with its input.
        """
    static let examples = [
        Example(
            "A token for one server",
            #"""
            keychain mcp --broker \
                'GH_TOKEN=keychain://github/agent to https://api.github.com'
            """#),
        Example(
            "Only for reading, and after a person said yes",
            #"""
            keychain mcp --broker \
                'T=keychain://git/agent to https://git.example.com methods GET ask'
            """#),
        Example("New passwords in a group of their own", "keychain mcp --create-passwords --group agent"),
    ]
    static let configuration: CommandConfiguration = documented("mcp")

    /// What happens to requests to servers that no rule names. There is no tunnel: an agent has no connection here.
    enum Others: String, CaseIterable, ExpressibleByArgument {
        case refuse, inspect
    }

    @OptionGroup var choice: BrokerChoice

    @Option(
        help: ArgumentHelp(
            "What happens to requests to servers that no rule names: refuse, or inspect, which lets them pass without "
                + "secrets. Without this, what the project says, or else refuse.", valueName: "what"))
    var others: Others?

    @Flag(name: .customLong("list-items"), help: "Show the agent the names of the passwords in the keychain.")
    var listsItems = false

    @Flag(name: .customLong("create-passwords"), help: "Let the agent have new passwords made, which it does not see.")
    var createsPasswords = false

    @Option(
        help: ArgumentHelp(
            "The access group whose items are shown and in which passwords are made.", valueName: "group"),
        completion: .groups)
    var group: String?

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    func validate() throws {
        guard choice.isGiven || listsItems || createsPasswords else {
            throw ValidationError("say what the agent may do: --broker, --project, --list-items or --create-passwords")
        }
        guard choice.isGiven || others == nil && choice.authority == nil else {
            throw ValidationError("--others and --broker-authority go with --broker or --project")
        }
        guard listsItems || createsPasswords || group == nil else {
            throw ValidationError("--group goes with --list-items or --create-passwords")
        }
        guard group?.isEmpty != true, group != Client.everyGroup else {
            throw ValidationError("--group takes the name of one access group, not '' or '*'")
        }
        try choice.validate(passcode)
        for descriptor in [passcode.descriptor, itemPassword.descriptor] where descriptor == 0 || descriptor == 1 {
            throw ValidationError("standard input and output are for the agent's host: choose another descriptor")
        }
    }

    func run() throws {
        // Before this process has a secret.
        let broker = try broker()
        defer { broker?.end() }
        let descriptor = passcode.descriptor
        let items = AgentItems(group: group) { makesVault in
            var passcode = PasscodeInput.none
            passcode.descriptor = descriptor
            let session =
                makesVault ? try VaultSession.ofOwner(passcode) : try VaultSession.ofOwnerInPresentVault(passcode)
            session.hideMemory()
            return session
        }
        var tools: [any McpTool] = [ListTool(rules: broker?.rules ?? [], items: listsItems ? items : nil)]
        if let broker { tools.append(RequestTool(broker: broker)) }
        if createsPasswords { tools.append(CreateTool(items: items)) }
        // A host that reads no more is gone.
        let output = McpOutput(1) {
            broker?.end()
            CLibrary.exit(ExitStatus.other)
        }
        let server = McpServer(tools, version: DaemonProgram.version, output: output) { broker?.greet($0) }
        if isatty(0) == 1 {
            CommandNote.show("this is for the host of an agent, which writes messages of JSON: end it with Control-D")
        }
        var input = McpInput(0)
        while let line = input.next() {
            switch line {
            case .line(let line): server.take(line)
            case .long: server.refuseLongLine()
            }
        }
    }

    private func broker() throws -> BrokerCalls? {
        guard choice.isGiven else { return nil }
        var brokered = try BrokeredSecrets(
            choice.rules, of: choice.file(), others: others.map { $0 == .refuse ? .refuse : .inspect },
            otherwise: .refuse, authority: choice.authority)
        // What an agent asks for are requests.
        brokered.rules.removeAll { $0.rule.login != nil }
        guard !brokered.rules.isEmpty else {
            throw Failure.usage("all rules are for PostgreSQL, which is for `keychain run`: add one with https://")
        }
        // An agent has no connection here that could pass unread.
        if brokered.others == .tunnel { brokered.others = .refuse }
        try choice.validate(brokered, self.passcode)
        var passcode = PasscodeInput.none
        passcode.descriptor = self.passcode.descriptor
        let lookup = try SecretLookup(passcode, itemPassword, for: "an agent")
        return try BrokerCalls(BrokerProcess(isIsolated: false), brokered, lookup)
    }
}
