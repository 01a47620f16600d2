import Foundation
import Glibc
import TestSupport
import Testing

/// The ways to start a user's daemon without systemd, as Documentation/Operate/Daemon.md has them.
@Suite struct DaemonRecipeTests {
    private let workplace: Workplace

    init() throws { workplace = try Workplace() }

    /// The lines of code of the page after a heading in bold.
    ///
    /// - Parameter number: Which of the blocks of lines.
    private static func recipe(_ heading: String, _ number: Int = 0) throws -> String {
        let page = Repository.file("Documentation/Operate/Daemon.md").path
        let text = try String(contentsOfFile: page, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n**\(heading)**").dropFirst().first)
        let blocks = section.components(separatedBy: "\n").split { !$0.hasPrefix("    ") }
        let lines = try #require(blocks.dropFirst(number).first)
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

    /// With folders of its own at the places of the machine's, in which it makes the user.
    @Test(.enabled(if: geteuid() == 0, "only root starts a daemon as another user"))
    func theLinesForServicesStartADaemonForAllUsers() throws {
        let heading = "For the services of a machine"
        let script = try Self.recipe(heading, 1)
            .replacing("PATH=/usr/local/bin", with: "PATH=\(workplace.path)/bin:/usr/local/bin")
        try FolderContents.write(Data(script.utf8), to: workplace.path + "/run")
        let rules = #"""
            {"version": 1, "rules": [
              {"uid": 0, "groups": ["*"], "rights": ["list", "unlock", "administer"]},
              {"uid": 65534, "groups": ["shop"]}]}
            """#
        try FolderContents.write(Data(rules.utf8), to: workplace.path + "/rules.json")
        let steps = """
            set -e; mount --bind etc /etc; mount -t tmpfs -o mode=755 tmpfs /run; mount -t tmpfs -o mode=755 tmpfs /var/lib
            export PATH="$PATH:/usr/sbin:/sbin"
            \(try Self.recipe(heading))
            install -m 644 rules.json /etc/keychain/entitlements.json
            ./run > keychaind.log 2>&1 & daemon=$!
            n=0; until [ -S /run/keychain/socket ]; do n=$((n+1)); [ $n -lt 300 ] || exit 98; sleep 0.1; done
            printf secret | keychain set db app --group shop
            setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/ keychain get db app; echo
            stat -c '%U %a %n' /var/lib/keychain /run/keychain
            kill $daemon; wait $daemon; echo "status $?"
            """
        try FolderContents.write(Data(steps.utf8), to: workplace.path + "/steps")
        let outcome = try shell(
            """
            chmod 711 .; chmod +x run; cp -a /etc etc
            unshare -m bash ./steps || { cat keychaind.log >&2; exit 95; }
            """)
        #expect(
            Transcript.lines(outcome.text) == [
                "secret", "keychain 700 /var/lib/keychain", "keychain 755 /run/keychain", "status 0",
            ], "\(outcome.text)\(outcome.errors)")
    }
}
