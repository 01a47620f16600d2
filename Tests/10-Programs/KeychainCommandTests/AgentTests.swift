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

    /// Rules let a program sign commits and not log in, or log in to one host, whatever it says to the agent.
    @Test func rules() throws {
        let outcome = try shell(
            """
            cd "$HOME"; keychain key create door; keychain key create other
            \(Self.host)
            for key in door other; do keychain key public $key --format openssh > $key.pub; done; echo text > text
            cat > stranger.py <<END
            # Signs what a log-in signs, and says nothing of a host.
            import base64, os, socket, struct
            def string(data): return struct.pack('>I', len(data)) + data
            key = base64.b64decode(open('door.pub').read().split()[1])
            data = (string(bytes(32)) + bytes([50]) + string(b'root') + string(b'ssh-connection') + string(b'publickey') +
                    bytes([1]) + string(b'ecdsa-sha2-nistp256') + string(key))
            agent = socket.socket(socket.AF_UNIX); agent.connect(os.environ['SSH_AUTH_SOCK'])
            agent.sendall(string(bytes([13]) + string(key) + string(data) + bytes(4)))
            print('answered', agent.recv(5)[4])
            END
            attempt() {
                keychain ssh-agent "$@" -- sh -c '
                    ssh-add -L | cut -d" " -f3 | tr "\\n" " "; sh ./login | tail -1
                    ssh-keygen -q -Y sign -n git -f door.pub text && echo git; rm -f text.sig
                    ssh-keygen -q -Y sign -n file -f door.pub text && echo file; rm -f text.sig
                    python3 stranger.py' 2>> err || true
            }
            attempt; echo
            attempt --allow 'sign git with door'; echo
            attempt --allow 'login [127.0.0.1]:2222'; echo
            attempt --allow "login [127.0.0.1]:2222 as nobody with door" --allow 'sign file with other'; echo
            attempt --allow "login $(ssh-keygen -l -f host.pub | cut -d' ' -f2) as $(id -un) with door"; echo
            ssh-keygen -q -H -f .ssh/known_hosts > hashing 2>&1
            attempt --allow 'login [127.0.0.1]:2222'; echo
            ssh-keygen -q -t ed25519 -N '' -f another
            attempt --allow "login $(ssh-keygen -l -f another.pub | cut -d' ' -f2)"; echo
            keychain ssh-agent --allow 'login elsewhere' -- true || echo $?
            grep -c 'no --allow lets a program log in as' err
            """)
        let (closed, refused) = ("Permission denied", "answered 5")
        let blocks = outcome.text.replacing("\r\n", with: "\n").split(separator: "\n\n").map {
            $0.split(separator: "\n").map(String.init)
        }
        #expect(
            blocks.first == ["door other inside", "git", "file", "answered 14"], "\(outcome.text)\(outcome.errors)")
        #expect(blocks.count == 8, "\(outcome.text)\(outcome.errors)")
        let opened = ["door other inside", refused]
        let expected = [
            ["git", refused], opened, [refused], ["door inside", refused], opened, [refused], ["64"],
        ]
        for (block, expected) in zip(blocks.dropFirst(), expected) {
            #expect(block.filter { !$0.contains(closed) }.prefix(expected.count) == expected[...], "\(block)")
        }
        #expect(outcome.errors.contains("names the host 'elsewhere', which is not in known_hosts"))
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
