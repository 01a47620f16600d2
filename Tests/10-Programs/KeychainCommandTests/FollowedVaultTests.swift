import Foundation
import TestSupport
import Testing

/// `keychain watch` and `keychain run`, which follow the changes of a vault.
@Suite struct FollowedVaultTests {
    private let workplace: Workplace

    init() throws { workplace = try Workplace() }

    /// Waits in a shell until a file has a line.
    private static let waiting = """
        until_line() { n=0; until grep -q "$2" "$1" 2>/dev/null; do n=$((n+1)); [ $n -lt 600 ] || exit 98; sleep 0.1; done; }

        """

    private func shell(_ commands: String) throws -> [String] {
        let outcome = try workplace.shell(Self.waiting + commands)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return Transcript.lines(outcome.text)
    }

    @Test func aWatcherSurvivesARestartOfTheDaemon() throws {
        let lines = try shell(
            """
            unset KEYCHAIN_HOME
            daemon() { exec keychaind --home "$HOME/served" --entitlements "$HOME/none" --no-lock-signals --log error \
                --socket "$KEYCHAIN_SOCKET" 2>>daemon.log; }
            export KEYCHAIN_SOCKET="$HOME/run/socket"
            daemon & first=$!
            until keychain list >/dev/null 2>&1; do kill -0 $first || exit 99; sleep 0.1; done
            printf one | keychain set mail alice
            keychain watch --since 0 > watched & watcher=$!
            trap 'kill $watcher $first 2>/dev/null; wait 2>/dev/null' EXIT
            until_line watched alice
            kill $first; wait $first
            daemon & first=$!
            until keychain list >/dev/null 2>&1; do kill -0 $first || exit 99; sleep 0.1; done
            printf two | keychain set mail bob
            until_line watched bob
            keychain delete mail alice
            until_line watched deleted
            cut -f2,3,5- watched
            """)
        #expect(
            lines == [
                "changed\tgenp\tmail\talice\tkeychain", "changed\tgenp\tmail\tbob\tkeychain", "deleted\tgenp\t\t\t",
            ])
    }

    /// The program gets the signal after the file has the new secret, and no signal for other items.
    @Test func aProgramReadsItsFileAgain() throws {
        let lines = try shell(
            """
            printf one | keychain set db app
            printf 'key={{ keychain://db/app }}' > in.conf
            cat > program <<'END'
            # Each line in one write: what waits for a line must not see it without its end.
            trap 'echo "$(cat "$KEY" "$CONF")"' HUP
            trap 'echo ended; exit 3' TERM
            echo "$(cat "$KEY" "$CONF")"; while :; do sleep 0.05; done
            END
            keychain run --reload HUP --file KEY=keychain://db/app --template CONF=in.conf -- sh program > out & run=$!
            until_line out onekey=one
            printf x | keychain set other item
            printf one | keychain set db app
            printf two | keychain set db app
            until_line out twokey=two
            keychain delete db app
            printf three | keychain set db app
            until_line out threekey=three
            kill $run; status=0; wait $run || status=$?
            cat out; echo status $status
            """)
        #expect(lines == ["onekey=one", "twokey=two", "threekey=three", "ended", "status 3"])
    }

    @Test func aProgramIsStartedAgainWithItsVariable() throws {
        let lines = try shell(
            """
            printf one | keychain set db app
            keychain run --restart --env KEY=keychain://db/app -- \
                sh -c 'trap "exit 4" TERM; echo "$KEY"; while :; do sleep 0.05; done' > out & run=$!
            until_line out one
            printf two | keychain set db app
            until_line out two
            kill $run; status=0; wait $run || status=$?
            cat out; echo status $status
            """)
        #expect(lines == ["one", "two", "status 4"])
    }

    /// A daemon tells a program without the right to list that a group changed, and not which of its items.
    @Test(arguments: ["", #", "rights": ["list"]"#])
    func aProgramWithoutTheRightToListIsStartedAgain(rights: String) throws {
        let rule = #"{"executable": "\#(workplace.path)/new/keychain", "groups": ["shop"]\#(rights)}"#
        try FolderContents.write(
            Data(#"{"version": 1, "rules": [\#(rule)]}"#.utf8), to: workplace.path + "/rules.json")
        let lines = try shell(
            """
            unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
            keychaind --home "$HOME/served" --entitlements "$HOME/rules.json" --no-lock-signals --log error \
                --socket "$KEYCHAIN_SOCKET" 2>daemon.log & daemon=$!
            run=; trap 'kill $run $daemon 2>/dev/null; wait 2>/dev/null' EXIT
            until keychain list >/dev/null 2>&1; do kill -0 $daemon || exit 99; sleep 0.1; done
            mkdir new; cp "$(readlink -f "$(command -v keychain)")" new/keychain
            printf one | keychain set db app --group shop
            new/keychain run --restart --env KEY=keychain://db/app -- \
                sh -c 'trap "exit 4" TERM; echo "$KEY"; while :; do sleep 0.05; done' > out & run=$!
            until_line out one
            printf x | keychain set other item --group shop
            printf two | keychain set db app --group shop
            until_line out two
            kill $run; status=0; wait $run || status=$?
            cat out; echo status $status
            """)
        #expect(lines == ["one", "two", "status 4"])
    }

    /// What ends by itself is not started again.
    @Test func aProgramThatEndsEndsTheRun() throws {
        let outcome = try workplace.shell(
            """
            printf one | keychain set db app
            keychain run --restart --env KEY=keychain://db/app -- sh -c 'echo "$KEY"; exit 5'
            """)
        #expect(outcome.text == "one\n" && outcome.status == 5)
    }
}
