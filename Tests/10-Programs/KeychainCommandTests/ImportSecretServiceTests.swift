import Foundation
import TestSupport
import Testing

/// Moving in from gnome-keyring, on a bus of its own.
@Suite struct ImportSecretServiceTests {
    private static let keyring = #"""
        unset KEYCHAIN_SOCKET KEYCHAIN_MODE
        export XDG_RUNTIME_DIR="$HOME/run" DBUS_SESSION_BUS_ADDRESS="unix:path=$HOME/session-bus"; mkdir -m 700 run
        trap 'kill $bus; wait $bus' EXIT
        printf pw | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>&1 &
        # Before its login collection is there, it would ask somebody for a password.
        until timeout 2 secret-tool store --label=Mine a 1 2>/dev/null <first; do sleep 0.1; done
        """#

    private func run(_ script: String) throws -> ProgramOutcome {
        let workplace = try Workplace()
        return try workplace.shell("printf swordfish > first\n\(Workplace.sessionBus)\n" + Self.keyring + "\n" + script)
    }

    @Test func everythingIsTakenAndCompared() throws {
        let outcome = try run(
            #"""
            /usr/bin/python3 - <<'END'
            import secretstorage
            login = secretstorage.get_default_collection(secretstorage.dbus_init())
            login.create_item('Twice', {'b': '2'}, b'one'); login.create_item('Twice', {'b': '2'}, b'two')
            login.create_item('Bytes', {'c': 'ü', 'xdg:schema': 'org.example'}, bytes(range(256)))
            END
            keychain import secret-service; keychain import secret-service
            keychain run --secret-service -- /usr/bin/python3 - <<'END'
            import secretstorage
            login = secretstorage.get_default_collection(secretstorage.dbus_init())
            for item in sorted(login.get_all_items(), key=lambda item: (item.get_label(), item.get_secret())):
                print(item.get_label(), len(item.get_secret()), sorted(set(item.get_attributes()) - {'xdg:schema'}), item.get_secret_content_type())
            END
            printf herring | secret-tool store --label=Mine a 1
            keychain import secret-service 2>&1; keychain import secret-service --replace
            keychain run --secret-service -- secret-tool lookup a 1; echo; secret-tool lookup a 1; echo
            keychain import secret-service --json | grep -o '"same":[0-9]*'
            """#)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "Login\t4 items: 4 stored, 0 were there already", "Login\t4 items: 0 stored, 4 were there already",
                "Bytes 256 ['c'] text/plain", "Mine 9 ['a'] text/plain", "Twice 3 ['b'] text/plain",
                "Twice 3 ['b'] text/plain", "Login\t4 items: 0 stored, 3 were there already",
                "keychain: another secret is here for 'Mine', and stayed: --replace takes the one from there",
                "Login\t4 items: 1 stored, 3 were there already", "herring", "herring",
                #""same":4"#,
            ], "\(outcome.text)\(outcome.errors)")
    }

    @Test func statusNamesAnotherProvider() throws {
        let outcome = try run(
            """
            keychain init >/dev/null; keychain status | grep 'on the bus'
            keychain status --json | grep -o '"secretService":"[^"]*'; env -u DBUS_SESSION_BUS_ADDRESS keychain status | grep -c bus
            """)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 3, "\(outcome.text)\(outcome.errors)")
        #expect(lines.first?.hasSuffix(") has the Secret Service") == true && lines.last == "0")
        #expect(lines.prefix(2).allSatisfy { $0.contains("/gnome-keyring-daemon (process ") })
    }

    /// A collection that nobody unlocks is left out, and named; the others are taken.
    @Test func lockedCollections() throws {
        let outcome = try run(
            #"""
            /usr/bin/python3 - <<'END'
            import secretstorage
            connection = secretstorage.dbus_init()
            secretstorage.get_default_collection(connection).lock()
            secretstorage.Collection(connection, '/org/freedesktop/secrets/collection/session').create_item('S', {'s': '1'}, b'x')
            END
            keychain import secret-service --wait 1; echo $?
            """#)
        #expect(outcome.text == "Login\tlocked\n36\n", "\(outcome.text)\(outcome.errors)")
        #expect(outcome.errors.contains("unlock what is locked there, and run this again"))
    }

    @Test func withoutABusItSaysWhatToDo() throws {
        let outcome = try Workplace().shell(
            "DBUS_SESSION_BUS_ADDRESS=unix:path=/none keychain import secret-service; echo $?")
        #expect(
            outcome.errors.contains("no Secret Service answers on the session bus") && outcome.text != "0\n",
            "\(outcome.errors)")
    }
}
