import ArgumentParser
import CLibrary
import CommandKit
import Connections
import FoundationEssentials
import Frames
import Presence
import PrivateFiles
import SSHAgent
import StatusCodes
import SystemLibraries

/// Serves keys to OpenSSH.
struct AgentCommand: DocumentedCommand {
    static let summary = "Serve the keychain's keys to ssh and git, as ssh-agent does."
    static let details = """
        Every private key of the keychain can log in and sign: RSA and the NIST curves, in software and in the \
        enclave. Private keys never leave this process or the enclave. A key that needs a person asks for one each \
        time. The question says which key is used for what: the user and the host of a login, as far as the client \
        tells them, or the signature of a commit.

        Without a command, the agent runs until it is ended, and prints a line for the shell that sets SSH_AUTH_SOCK. \
        With a command, the agent runs it, ends with it, and has its exit status. The agent stays in the foreground. A \
        shell that waits for its output, as eval does, waits for ever: run the shell after --, or run the agent with & \
        and --socket.

        Keys can be listed while the vault is locked. A signature then asks for the passcode. With keychaind the vault \
        stays unlocked until it is locked again; without keychaind, until the agent ends. The question comes up at the \
        agent's terminal or in pinentry.

        With --allow, the agent signs only what one of the rules is about, and shows only the keys of rules. So a program \
        may sign commits and not log in, or log in to one host. A rule is `login HOST,… [as USER,…] [with KEY,…]` or \
        `sign NAMESPACE,… [with KEY,…]`. HOST is a name in known_hosts, which is read when the agent starts, or the \
        fingerprint of a host's key. A forwarded agent signs nothing then.

        The agent adds and removes no keys: `keychain key create`, `import` and `key delete` do.
        """
    static let examples = [
        Example("For one command", "keychain ssh-agent -- ssh git.example.com"),
        Example("For a shell and what is run in it", "keychain ssh-agent -- bash"),
        Example(
            "A program that may sign commits, and log in to one host",
            #"""
            keychain ssh-agent --allow 'sign git with me' \
                --allow 'login git.example.com as git' -- agent
            """#),
        Example("For good, with systemd", "systemctl --user enable --now keychain-ssh-agent"),
        Example(
            "Sign commits with it",
            #"""
            git config gpg.format ssh
            git config user.signingkey \
                "key::$(keychain key public me --format openssh)"
            """#
        ),
    ]
    static let configuration: CommandConfiguration = documented("ssh-agent")

    @Option(
        help: ArgumentHelp(
            "Where to listen, instead of $XDG_RUNTIME_DIR/keychain/ssh-agent. If XDG_RUNTIME_DIR is not set, a command "
                + "gets a folder of its own.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Sign only this: 'login HOST,… [as USER,…] [with KEY,…]' or 'sign NAMESPACE,… [with KEY,…]'. May be given "
                + "several times.", valueName: "rule"))
    var allow: [String] = []

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("A command to run, with its arguments.", valueName: "command"))
    var command: [String] = []

    func run() throws {
        let rules = try rules()
        let folder = try AgentFolder(isNeeded: socket == nil && !command.isEmpty)
        defer { folder?.remove() }
        let path = try folder.map { $0.path + "/agent" } ?? path()
        guard let signals = EndingSignals() else {
            throw Failure(status: errSecIO, "no descriptor is left: end other programs or raise `ulimit -n`")
        }
        let prompt = WithdrawablePrompt(StandardPrompt())
        let server = try Self.server(at: path, KeychainAgentKeys(prompt: prompt, rules: rules))
        defer { unlink(path) }
        guard ConnectionThread.start({ server.run() }) else { throw Self.noThread }
        defer {
            server.stop()
            prompt.takeBack()
        }
        guard command.isEmpty else { throw ExitCode(try Self.wait(for: command, socket: path, signals)) }
        try StandardOutput.write(line: "SSH_AUTH_SOCK=\(Self.quoted(path)); export SSH_AUTH_SOCK;")
        while signals.next() == 0 {}
    }

    private static let noThread = Failure(
        status: errSecAllocate, "no thread can be started: end other programs or raise `ulimit -u`")

    /// - Returns: The command's exit status.
    private static func wait(
        for command: [String], socket: String, _ signals: borrowing EndingSignals
    ) throws -> Int32 {
        let child = try AgentChild(command, socket: socket)
        guard child.watch() else { throw noThread }
        while true {
            let signal = signals.next()
            if let status = child.status { return status }
            // A terminal sends its signal to the child itself.
            if signal != SIGINT, signal != 0 { child.send(signal) }
        }
    }

    /// - Returns: Nil if everything is signed.
    private func rules() throws -> [AgentRule]? {
        let known = KnownHosts.ofUser
        let rules = try allow.map { text in
            do throws(AgentRule.Problem) {
                var rule = try AgentRule(text)
                for host in rule.hosts where !host.hasPrefix("SHA256:") {
                    let keys = known.keys(ofHost: host)
                    guard !keys.isEmpty else {
                        throw AgentRule.Problem(
                            description: "names the host '\(host)', which is not in known_hosts: log in there once, or "
                                + "write the fingerprint of its key, SHA256:…")
                    }
                    rule.fingerprints.formUnion(keys.map(BoundHost.fingerprint))
                }
                return rule
            } catch {
                throw Failure.usage("a rule of --allow \(error.description)".escapedForTerminal)
            }
        }
        return rules.isEmpty ? nil : rules
    }

    private func path() throws -> String {
        if let socket {
            return socket.hasPrefix("/") ? socket : FileManager.default.currentDirectoryPath + "/" + socket
        }
        guard let runtime = Environment.path(in: "XDG_RUNTIME_DIR") else {
            throw Failure.usage("XDG_RUNTIME_DIR is not set: say with --socket where to listen")
        }
        do {
            return try PrivateFolder(creating: runtime + "/keychain").path(of: "ssh-agent")
        } catch {
            throw Failure(status: errSecIO, "\(error)")
        }
    }

    private static func server(at path: String, _ keys: KeychainAgentKeys) throws -> AgentServer {
        do {
            return try AgentServer(at: path, keys)
        } catch SocketError.system(errno: EADDRINUSE) {
            throw Failure(
                status: errSecIO,
                "an agent listens at \(path.escapedForTerminal) already: use that one, or choose another --socket")
        } catch SocketError.system(errno: ENOTSOCK) {
            throw Failure(
                status: errSecIO,
                "\(path.escapedForTerminal) is a file and no socket, and is left alone: choose another --socket")
        } catch {
            throw Failure(
                status: errSecIO,
                "nothing can listen at \(path.escapedForTerminal) (\(error)): choose another --socket")
        }
    }

    /// A word that every shell reads as `path`.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "-")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
        return isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'"
    }
}
