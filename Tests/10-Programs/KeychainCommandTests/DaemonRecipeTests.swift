import Foundation
import Glibc
import TestSupport
import Testing

/// The ways to start a user's daemon without systemd, as Documentation/Operate/Daemon.md has them.
@Suite struct DaemonRecipeTests {
    private let workplace: Workplace

    init() throws { workplace = try Workplace() }

    /// The lines of code of the page after a heading in bold.
    private static func recipe(_ heading: String) throws -> String {
        let page = Repository.file("Documentation/Operate/Daemon.md").path
        let text = try String(contentsOfFile: page, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n**\(heading)**").dropFirst().first)
        let lines = section.components(separatedBy: "\n").drop { !$0.hasPrefix("    ") }.prefix { $0.hasPrefix("    ") }
        return lines.map { String($0.dropFirst(4)) }.joined(separator: "\n") + "\n"
    }

    /// Runs commands, and ends the daemons of this place afterwards: each has its log open.
    private func shell(_ commands: String) throws -> ProgramOutcome {
        try workplace.shell(
            """
            unset KEYCHAIN_HOME; other="$HOME/other"; mkdir "$other"
            daemons() { for p in /proc/[0-9]*; do case "$(readlink $p/fd/2)" in "$HOME"/*keychaind.log) echo ${p#/proc/};; esac; done; }
            # Waits until there are so many: one that finds the socket taken is about to end.
            count() { n=0; until [ "$(daemons | wc -l)" = $1 ]; do n=$((n+1)); [ $n -lt 300 ] || exit 96; sleep 0.1; done; echo $1 daemons; }
            trap 'kill $(daemons) 2>/dev/null' EXIT
            ready() { n=0; until [ -S "$1/.local/run/keychain/socket" ]; do n=$((n+1)); [ $n -lt 300 ] || exit 98; sleep 0.1; done; }
            \(commands)
            """)
    }

    @Test func theLinesOfALoginStartOneDaemonForEachUser() throws {
        try FolderContents.write(Data(Self.recipe("At login").utf8), to: workplace.path + "/profile")
        let outcome = try shell(
            """
            # Two sessions of one user, the first of which ends, and a session of another.
            sh -c '. "$HOME/profile"'
            ready "$HOME"; count 1
            sh -c '. "$HOME/profile"; printf secret | keychain set mail alice'
            n=0; until grep -q 'another daemon serves' .local/run/keychaind.log; do n=$((n+1)); [ $n -lt 300 ] || exit 97; sleep 0.1; done
            count 1
            sh -c '. "$HOME/profile"; keychain get mail alice; echo; keychain status | grep daemon'
            (profile="$HOME/profile"; export HOME="$other"; sh -c ". $profile"; ready "$HOME")
            count 2
            (export HOME="$other" KEYCHAIN_SOCKET="$other/.local/run/keychain/socket"; keychain list; keychain status | grep vault)
            printf right > right; export KEYCHAIN_SOCKET="$HOME/.local/run/keychain/socket"
            keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right
            keychain lock; keychain status --check 2>/dev/null; echo "status $?"
            KEYCHAIN_SOCKET="$other/.local/run/keychain/socket" keychain status --check; echo "status $?"
            """)
        let lines = Transcript.lines(outcome.text)
        #expect(
            lines == [
                "1 daemons", "1 daemons", "secret", "daemon    answers", "2 daemons",
                "vault     \(workplace.path)/other/.local/share/keychain", #"{"passcode":true}"#, "status 36",
                "status 0",
            ], "\(outcome.text)\(outcome.errors)")
    }

    @Test func theLineOfACrontabStartsADaemon() throws {
        let line = try Self.recipe("At boot")
        #expect(line.hasPrefix("@reboot "))
        // cron gives the rest of the line to a shell, with HOME set (crontab(5)).
        try FolderContents.write(Data(line.dropFirst("@reboot ".count).utf8), to: workplace.path + "/job")
        let outcome = try shell(
            """
            env -i HOME="$HOME" PATH="$PATH" /bin/sh -c "$(cat job)" &
            ready "$HOME"; count 1
            export KEYCHAIN_SOCKET="$HOME/.local/run/keychain/socket"; keychain status | grep daemon
            """)
        #expect(Transcript.lines(outcome.text) == ["1 daemons", "daemon    answers"], "\(outcome.errors)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root starts a daemon as another user"))
    func theScriptOfASupervisorStartsADaemon() throws {
        let script = try Self.recipe("Under a supervisor")
            .replacing("user=alice home=/home/alice", with: "user=root home=\(workplace.path)")
            .replacing("PATH=/usr/local/bin", with: "PATH=\(workplace.path)/bin:/usr/local/bin")
        try FolderContents.write(Data(script.utf8), to: workplace.path + "/run")
        let outcome = try shell(
            """
            chmod +x run; ./run 2>> keychaind.log >> keychaind.log & supervised=$!
            ready "$HOME"
            export KEYCHAIN_SOCKET="$HOME/.local/run/keychain/socket"; keychain status | grep -E 'vault|daemon'
            kill $supervised; wait $supervised; echo "status $?"
            """)
        #expect(
            Transcript.lines(outcome.text) == [
                "vault     \(workplace.path)/.local/share/keychain", "daemon    answers", "status 0",
            ], "\(outcome.text)\(outcome.errors)")
    }
}
