import Foundation
import Glibc
import TestSupport
import Testing

/// `keychain ssh-agent` with OpenSSH and git on the other side.
@Suite struct AgentTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
    }

    private func shell(_ command: String) throws -> ProgramOutcome {
        try workplace.shell("set -e\nexport XDG_RUNTIME_DIR=\(workplace.path)/run\n" + command)
    }

    /// Makes a host that accepts the key `door`, and a script that logs in to it. The client starts the host itself: it
    /// takes no port, and nothing is left when it ends.
    static let host = """
        mkdir -p .ssh; [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
        ssh-keygen -q -t ed25519 -N '' -f host
        keychain key public door --format openssh > authorized
        port=2222
        cat > sshd_config <<END
        HostKey $HOME/host
        AuthorizedKeysFile $HOME/authorized
        StrictModes no
        UsePAM no
        PermitRootLogin yes
        PasswordAuthentication no
        KbdInteractiveAuthentication no
        PidFile none
        END
        echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 host.pub)" > .ssh/known_hosts
        cat > login <<END
        exec ssh -F none -p $port -o BatchMode=yes -o UserKnownHostsFile=$HOME/.ssh/known_hosts \\
            -o 'ProxyCommand=/usr/sbin/sshd -i -e -f $HOME/sshd_config 2>$HOME/log' \\
            -o StrictHostKeyChecking=yes $(id -un)@127.0.0.1 'echo inside' 2>&1
        END

        """

    @Test(arguments: ["--enclave", "", "--type ed25519", "--type rsa2048", "--type p384", "--type p521"])
    func loggingIn(options: String) throws {
        let outcome = try shell(
            """
            keychain key create door \(options)
            \(Self.host)
            keychain ssh-agent -- sh login
            keychain key delete door; keychain key create door \(options)
            keychain ssh-agent -- sh login || echo refused $?
            """)
        #expect(outcome.text.hasPrefix("inside\n"), "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("Permission denied (publickey)"))
        #expect(outcome.text.hasSuffix("refused 255\n"))
        #expect(outcome.status == 0)
    }

    @Test func aSessionWithoutAFolderForSocketsGetsOneForACommand() throws {
        let outcome = try workplace.shell(
            """
            unset XDG_RUNTIME_DIR; export TMPDIR="$HOME"; keychain key create door
            keychain ssh-agent -- sh -c 'ssh-add -L; stat -c %a "${SSH_AUTH_SOCK%/*}"; exit 3' > output
            echo $?; head -n 1 output | cut -d' ' -f3; tail -n 1 output; ls -d "$HOME"/keychain-agent-*
            keychain ssh-agent || echo refused $?
            """)
        #expect(outcome.text == "3\ndoor\n700\nrefused 64\n", "\(outcome.errors)")
        #expect(outcome.errors.contains("XDG_RUNTIME_DIR is not set"))
    }

    /// Who logs in where is in the question.
    @Test func aPersonIsAskedForALogin() throws {
        let script = """
            set -e; export XDG_RUNTIME_DIR=\(workplace.path)/run; cd "$HOME"
            printf 'swordfish\\n' > right
            keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3<right
            keychain key create door --enclave --require presence --passcode-fd 3 3<right; rm right
            \(Self.host)
            keychain ssh-agent -- sh login
            ssh-keygen -l -f host.pub; id -un; echo "$port"
            """
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-c", script])
        // The vault is locked too.
        for purpose in ["The vault is locked.", "keychain: log in as"] {
            try terminal.expect(purpose)
            try terminal.expect("Passcode: ")
            try terminal.waitUntilSilent()
            terminal.type("swordfish\n")
        }
        try terminal.expect("inside")
        #expect(try terminal.finish() == 0)
        let screen = terminal.screen.replacing("\r\n", with: "\n")
        let facts = screen.split(separator: "\n").suffix(3)
        let fingerprint = try #require(facts.first?.split(separator: " ").dropFirst().first)
        let (user, port) = try (#require(facts.dropFirst().first), #require(facts.last))
        let question = "log in as '\(user)' on [127.0.0.1]:\(port) (\(fingerprint)) with the key 'door'."
        #expect(screen.contains(question), "\(screen)")
    }

    @Test(arguments: ["\u{03}", "TERM"])
    func anInterruptedQuestionPutsTheEchoBack(how: String) throws {
        let script = """
            set -e; cd "$HOME"
            printf 'swordfish\\n' > right
            keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3<right
            keychain key create door --enclave --require presence --passcode-fd 3 3<right; rm right
            keychain key public door --format openssh > door.pub; echo text > text
            exec keychain ssh-agent --socket agent -- ssh-keygen -q -Y sign -n file -f door.pub text
            """
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-c", script])
        try terminal.expect("Passcode: ")
        try terminal.waitUntilSilent()
        if how == "TERM" { kill(terminal.process, SIGTERM) } else { terminal.type(how) }
        #expect(try terminal.finish() == (how == "TERM" ? 128 + SIGTERM : 128 + SIGINT))
        #expect(terminal.isEchoing)
        #expect(!FileManager.default.fileExists(atPath: workplace.path + "/agent"))
    }

    @Test func signingCommits() throws {
        let outcome = try shell(
            """
            keychain key create me --enclave; keychain key create other
            for key in me other; do keychain key public $key --format openssh > $key.pub; done
            echo "me@example.com $(cut -d' ' -f1,2 me.pub)" > allowed
            git init -q repository; cd repository
            git config user.name Me; git config user.email me@example.com
            git config gpg.format ssh; git config gpg.ssh.allowedSignersFile ../allowed
            git config user.signingkey "key::$(keychain key public me --format openssh)"
            keychain ssh-agent -- git commit -q -S --allow-empty -m first
            git verify-commit HEAD 2>&1
            git config user.signingkey "$HOME/other.pub"
            keychain ssh-agent -- git commit -q -S --allow-empty -m second
            git verify-commit HEAD 2>&1 || echo stranger
            git config user.signingkey "$HOME/me.pub"; keychain key delete me
            keychain ssh-agent -- git commit -q -S --allow-empty -m third 2>/dev/null || echo unsigned
            """)
        #expect(outcome.text.hasPrefix("Good \"git\" signature for me@example.com with ECDSA key"))
        #expect(outcome.text.hasSuffix("stranger\nunsigned\n"), "\(outcome.text)\(outcome.errors)")
        #expect(outcome.status == 0)
    }

    @Test(arguments: ["TERM", "INT", "HUP"])
    func aSignalEndsItAndTakesTheSocketAway(signal: String) throws {
        let outcome = try shell(
            """
            keychain ssh-agent --socket early -- ssh-add -L || echo $?
            keychain key create me
            mkfifo said; keychain ssh-agent > said & agent=$!
            read -r line < said; echo "$line"; eval "$line"
            ls -ld run/keychain run/keychain/ssh-agent | cut -c1-10
            ssh-add -L | cut -d' ' -f3
            keychain ssh-agent 2>&1 || echo $?
            kill -\(signal) $agent; wait $agent; echo $?; ls run/keychain
            """)
        #expect(
            outcome.text == """
                The agent has no identities.
                1
                SSH_AUTH_SOCK=\(workplace.path)/run/keychain/ssh-agent; export SSH_AUTH_SOCK;
                drwx------
                srw-------
                me
                keychain: an agent listens at \(workplace.path)/run/keychain/ssh-agent already: use that one, or choose \
                another --socket
                1
                0

                """, "\(outcome.errors)")
    }

    /// What a killed agent leaves is a socket; anything else is somebody's.
    @Test(arguments: ["regular", "link"])
    func onlyASocketIsReplaced(kind: String) throws {
        let outcome = try workplace.shell(
            """
            export XDG_RUNTIME_DIR=\(workplace.path)/run
            echo precious > regular; ln -s regular link
            keychain ssh-agent --socket \(kind) -- true; echo $?
            cat regular link
            """)
        #expect(outcome.text == "1\nprecious\nprecious\n")
        #expect(outcome.errors.contains("is a file and no socket"))
    }

    @Test func theCommandDecides() throws {
        let outcome = try shell(
            """
            keychain key create me; mkdir 'a b'
            keychain ssh-agent --socket 'a b/agent' -- sh -c 'echo "$SSH_AUTH_SOCK"; exit 7' || echo $?
            keychain ssh-agent -- nowhere || echo $?
            keychain ssh-agent -- sh -c 'kill -TERM $$' || echo $?
            mkfifo said silent
            keychain ssh-agent -- sh -c 'trap "exit 5" TERM; echo; read -r line' > said <> silent & agent=$!
            read -r line < said; kill $agent; wait $agent || echo $?
            env -u XDG_RUNTIME_DIR keychain ssh-agent || echo $?
            ls 'a b' run/keychain
            """)
        #expect(
            outcome.text == """
                \(workplace.path)/a b/agent
                7
                127
                143
                5
                64
                a b:

                run/keychain:

                """, "\(outcome.errors)")
        #expect(
            outcome.errors == """
                keychain: 'nowhere' cannot be run (No such file or directory): name a program after --
                keychain: XDG_RUNTIME_DIR is not set: say with --socket where to listen

                """)
    }
}
