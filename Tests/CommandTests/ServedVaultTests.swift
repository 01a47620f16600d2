import Foundation
import TestSupport
import Testing

/// The commands, with a daemon that serves a vault in a folder of its own.
@Suite struct ServedVaultTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
    }

    /// Runs commands while `keychaind` serves the vault in `$HOME/served`.
    private func served(_ commands: String) throws -> ProgramOutcome {
        try workplace.shell(
            """
            unset KEYCHAIN_HOME
            daemon() { exec keychaind --home "$HOME/served" --entitlements "$HOME/none" --no-lock-signals --log error "$@"; }
            export KEYCHAIN_SOCKET="$HOME/run/socket"
            daemon --socket "$KEYCHAIN_SOCKET" 2>daemon.log & first=$!
            trap 'end' EXIT; end() { { kill $first; wait $first; } 2>/dev/null; }
            until keychain list >/dev/null 2>&1; do kill -0 $first || exit 99; sleep 0.1; done
            printf secret | keychain set mail alice
            \(commands)
            """)
    }

    private func expect(_ outcome: ProgramOutcome, _ text: String) {
        let lines = text.split(separator: "\n").map(String.init)
        #expect(Transcript.matches(Transcript.lines(outcome.text), lines), "\(outcome.text)\(outcome.errors)")
    }

    @Test func oneVaultHasOneDaemon() throws {
        let outcome = try served(
            """
            (daemon --socket "$HOME/second/socket"); echo "status $?"
            test -e second/socket || echo no second socket
            keychain get mail alice
            { kill -9 $first; wait $first; } 2>/dev/null
            daemon --socket "$KEYCHAIN_SOCKET" & first=$!
            until keychain list >/dev/null 2>&1; do kill -0 $first || exit 99; sleep 0.1; done
            keychain get mail alice
            """)
        #expect(outcome.text == "status 1\nno second socket\nsecretsecret", "\(outcome.errors)")
        #expect(outcome.errors.contains("another daemon serves the vault in \(workplace.path)/served"))
    }
}
