import Foundation
import Glibc
import TestSupport
import Testing

/// Programs that ask for a Secret Service, unmodified, with `keychaind`: on a socket that they take for their session
/// bus, and on a real session bus.
@Suite struct ServedSecretsTests {
    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case socket, bus

        var testDescription: String { rawValue }
    }

    private let workplace: Workplace

    init() throws { workplace = try Workplace() }

    /// Runs a script while `keychaind` serves.
    func served(
        _ place: Place = .socket, entitlements: String = #"{"version": 1, "rules": []}"#, options: String = "",
        seconds: Int = 100, _ script: String
    ) throws -> ProgramOutcome {
        try Data(entitlements.utf8).write(to: URL(filePath: workplace.path + "/entitlements.json"))
        let file = workplace.path + "/script.sh"
        try Data((". ./daemon.sh\n" + script).utf8).write(to: URL(filePath: file))
        let address = place == .bus ? "$HOME/session-bus" : "$HOME/run/bus"
        return try workplace.shell(
            """
            unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket" DBUS_SESSION_BUS_ADDRESS="unix:path=\(address)"
            end() { { kill $first $bus; wait $first $bus; } 2>/dev/null; }; trap end EXIT
            \(place == .bus ? Workplace.sessionBus : "bus=")
            cat > daemon.sh <<'END'
            begin() {
                keychaind --socket "$KEYCHAIN_SOCKET" --home "$HOME/served" --entitlements "$HOME/entitlements.json" \
                --no-lock-signals --secret-service \(place == .bus ? "--session-bus" : "") \(options) 2>daemon.log & first=$!
                until keychain status >/dev/null 2>&1; do kill -0 $first || { cat daemon.log >&2; exit 99; }; sleep 0.05; done
            }
            # The daemon stops and starts, as with the machine.
            restart() { pkill -f "home $HOME/served"; while pgrep -f "home $HOME/served" >/dev/null; do sleep 0.05; done; begin
                trap '{ kill $first; wait $first; } 2>/dev/null' EXIT; }
            END
            . ./daemon.sh; begin
            timeout \(seconds) bash '\(file)'; echo "status $?" >&2
            """)
    }

    private func expect(
        _ outcome: ProgramOutcome, _ lines: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == lines, "\(outcome.errors)",
            sourceLocation: sourceLocation)
    }

    @Test(arguments: Place.allCases) func programsOfOthers(_ place: Place) throws {
        let outcome = try served(
            place,
            #"""
            printf swordfish | secret-tool store --label='The label' server example.org user alice
            printf herring | secret-tool store --label='Another' server example.org user bob
            echo "$(secret-tool lookup server example.org user alice) $?"
            secret-tool search --all server example.org 2>/dev/null | grep ^secret
            secret-tool clear user alice; secret-tool lookup user alice; echo $?
            d=docker-credential-secretservice
            echo '{"ServerURL":"https://registry.example.org","Username":"alice","Secret":"tuna"}' | $d store
            echo https://registry.example.org | $d get; $d list
            /usr/bin/python3 - <<'END'
            import secretstorage
            connection = secretstorage.dbus_init()
            login = secretstorage.get_default_collection(connection)
            item = login.create_item('Label', {'a': '1'}, b'zero\0and \xff', content_type='application/x')
            again = login.create_item('Other', {'a': '1'}, b'new' * 1000, replace=True)
            print(again == item, item.get_label(), item.get_secret() == b'new' * 1000)
            made = secretstorage.create_collection(connection, 'Mine', 'mine')
            made.create_item('In it', {'c': '4'}, b'x')
            print(secretstorage.Collection(connection, '/org/freedesktop/secrets/aliases/mine').get_label())
            print([i.get_secret() for i in made.get_all_items()])
            made.delete()
            print(list(secretstorage.search_items(connection, {'c': '4'})), login.is_locked())
            END
            """#)
        expect(
            outcome,
            [
                "swordfish 0", "secret = herring", "secret = swordfish", "1",
                #"{"ServerURL":"https://registry.example.org","Username":"alice","Secret":"tuna"}"#,
                #"{"https://registry.example.org":"alice"}"#, "True Other True", "Mine", "[b'x']", "[] False",
            ])
    }

    /// What needs a password of its own keeps no other item from being found, also when the vault is locked.
    @Test func objectsOnTheBus() throws {
        let outcome = try served(
            .bus,
            #"""
            service() { busctl --address="$DBUS_SESSION_BUS_ADDRESS" "$@"; }
            items() { service tree --list org.freedesktop.secrets | grep -c collection/login/; }
            printf 'long enough' > password; printf swordfish | secret-tool store --label=L a 1
            printf x | keychain set other thing
            printf x | keychain set own one --group secret-service --require password --item-password-fd 3 3<password
            items; service call org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service SearchItems                 'a{ss}' 0 | cut -d' ' -f2
            service call org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service Lock ao 1                 /org/freedesktop/secrets/collection/login
            keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3<password 2>none
            service call org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service Lock ao 1                 /org/freedesktop/secrets/collection/login
            [ "$(items)" -gt 0 ] && echo locked
            """#)
        expect(
            outcome,
            ["1", "1", #"aoo 0 "/""#, #"aoo 1 "/org/freedesktop/secrets/collection/login" "/""#, "locked"])
    }

    /// Without a bus, the daemon knows which program asks, and shows it its own items alone.
    @Test func programsAreKeptApart() throws {
        let script = #"""
            printf swordfish | secret-tool store --label=Mine a 1
            find() { /usr/bin/python3 -c "
            import secretstorage
            connection = secretstorage.dbus_init()
            print([i.get_secret() for i in secretstorage.search_items(connection, {'a': '1'})])
            print(len(list(secretstorage.get_default_collection(connection).get_all_items())))"; }
            find; secret-tool lookup a 1; echo
            keychain list --json | grep -o '"group":"[^"]*"' | sort
            keychain audit --json | grep -o '/usr/bin/[a-z-]*' | sort -u
            """#
        let apart = try served(.socket, script)
        expect(
            apart,
            ["[]", "0", "swordfish", #""group":"/usr/bin/secret-tool""#, "/usr/bin/python", "/usr/bin/secret-tool"])
        let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        // Who may list the shared group shares it.
        let shared = try ServedSecretsTests().served(
            .socket,
            entitlements: """
                {"version": 1, "rules": [{"executable": "/usr/bin/secret-tool", "groups": ["secret-service"], "rights": ["list"]},
                           {"executable": "\(python)", "groups": ["secret-service"], "rights": ["list"]}]}
                """, script)
        expect(
            shared,
            [
                "[b'swordfish']", "1", "swordfish", #""group":"secret-service""#, "/usr/bin/python",
                "/usr/bin/secret-tool",
            ])
    }

    /// A secret goes to no item of another group, whatever that has in it.
    @Test func plantedItemsAreNotReplaced() throws {
        let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        let outcome = try served(
            .socket,
            entitlements: """
                {"version": 1, "rules": [{"executable": "\(python)", "groups": ["TEAM.shared"], "rights": ["list"]}]}
                """,
            #"""
            printf planted | keychain set secret-service/login 61 --group TEAM.shared --attribute bank=1
            /usr/bin/python3 - <<'END'
            import secretstorage
            connection = secretstorage.dbus_init()
            read = lambda: [i.get_secret() for i in secretstorage.search_items(connection, {'bank': '1'})]
            print(read())
            secretstorage.Collection(connection).create_item('Mine', {'bank': '1'}, b'own', replace=True)
            print(read())
            END
            keychain get secret-service/login 61 --group TEAM.shared; echo
            """#)
        expect(outcome, ["[b'planted']", "[b'own', b'planted']", "planted"])
    }

    /// A program waits for somebody to unlock the vault, and not for ever.
    @Test(arguments: Place.allCases) func lockedVault(_ place: Place) throws {
        let outcome = try served(
            place,
            entitlements: """
                {"version": 1, "rules": [{"uid": \(getuid()), "groups": ["secret-service"], "rights": ["list"]}]}
                """, options: "--unlock-wait 1",
            #"""
            printf swordfish | secret-tool store --label=Mine a 1
            echo 'long enough' > passcode; keychain passcode set --new-passcode-fd 3 3<passcode 2>/dev/null; keychain lock
            secret-tool lookup a 1; echo "lookup $?"
            printf x | secret-tool store --label=Other b 2 2>/dev/null; echo "store $?"
            /usr/bin/python3 - <<'END'
            import secretstorage, time
            from jeepney import DBusAddress, MatchRule, new_method_call
            connection = secretstorage.dbus_init()
            login = secretstorage.get_default_collection(connection)
            print(login.is_locked())
            item = next(secretstorage.search_items(connection, {'a': '1'}))
            try: item.get_secret()
            except secretstorage.exceptions.LockedException as error: print('locked')
            # A prompt that is dismissed is over at once, and each ends once.
            service = DBusAddress('/org/freedesktop/secrets', 'org.freedesktop.secrets', 'org.freedesktop.Secret.Service')
            paths = [connection.send_and_get_reply(
                new_method_call(service, 'Unlock', 'ao', (['/org/freedesktop/secrets/aliases/default'],))).body[1]
                for _ in range(20)]
            print(len(set(paths)))
            ends = []
            with connection.filter(MatchRule(type='signal', interface='org.freedesktop.Secret.Prompt'), bufsize=64) as queue:
                prompt = lambda path: DBusAddress(path, 'org.freedesktop.secrets', 'org.freedesktop.Secret.Prompt')
                for path in paths[-2:]:
                    answer = connection.send_and_get_reply(new_method_call(prompt(path), 'Prompt', 's', ('',)))
                    print(answer.header.message_type.name, len(queue))
                connection.send_and_get_reply(new_method_call(prompt(paths[-1]), 'Dismiss'))
                # The oldest made room.
                print(connection.send_and_get_reply(new_method_call(prompt(paths[0]), 'Prompt', 's', ('',)))
                      .header.message_type.name)
                for _ in range(2):
                    signal = connection.recv_until_filtered(queue, timeout=10)
                    ends.append((signal.header.fields[1] == paths[-1], signal.body[0]))
            print(ends)
            END
            # One line about each program, however often it waits.
            grep -c 'waits for the vault to be unlocked' daemon.log
            """#)
        expect(
            outcome,
            [
                "lookup 1", "store 1", "True", "locked", "20", "method_return 0", "method_return 0", "error",
                "[(True, True), (False, True)]", "2",
            ])
    }

    /// The end of a prompt comes to its program, also if that has subscribed to no signals.
    @Test(arguments: Place.allCases) func promptOfAProgramThatDoesNotSubscribe(_ place: Place) throws {
        let outcome = try served(
            place, options: "--unlock-wait 1",
            #"""
            printf swordfish | secret-tool store --label=Mine a 1
            echo 'long enough' > passcode; keychain passcode set --new-passcode-fd 3 3<passcode 2>/dev/null; keychain lock
            /usr/bin/python3 - <<'END'
            from jeepney import DBusAddress, MatchRule, new_method_call
            from jeepney.io.blocking import open_dbus_connection
            root = '/org/freedesktop/secrets'
            def call(path, interface, member, signature, *arguments):
                address = DBusAddress(path, 'org.freedesktop.secrets', 'org.freedesktop.Secret.' + interface)
                return connection.send_and_get_reply(new_method_call(address, member, signature, arguments)).body
            connection = open_dbus_connection()
            for _ in range(2):
                with connection.filter(MatchRule(type='signal', member='Completed')) as queue:
                    prompt = call(root, 'Service', 'Unlock', 'ao', [root + '/collection/login'])[1]
                    call(prompt, 'Prompt', 'Prompt', 's', '')
                    print(connection.recv_until_filtered(queue, timeout=10).body[0])
            END
            """#)
        expect(outcome, ["True", "True"])
    }

    /// A program that waits goes on when somebody else has unlocked the vault.
    @Test(arguments: Place.allCases) func unlockedMeanwhile(_ place: Place) throws {
        let outcome = try served(
            place, options: "--unlock-wait 60",
            #"""
            printf swordfish | secret-tool store --label=Mine a 1
            echo 'long enough' > passcode; keychain passcode set --new-passcode-fd 3 3<passcode 2>/dev/null; keychain lock
            secret-tool lookup a 1 > found & lookup=$!
            until grep -q 'waits for the vault to be unlocked' daemon.log; do sleep 0.05; done
            keychain unlock --passcode-fd 3 3<passcode; wait $lookup; echo "$? $(cat found)"
            """#)
        expect(outcome, ["0 swordfish"])
    }

    /// Programs hear of what others do to the items that they see.
    @Test(arguments: Place.allCases) func signals(_ place: Place) throws {
        let outcome = try served(
            place,
            entitlements: """
                {"version": 1, "rules": [{"uid": \(getuid()), "groups": ["secret-service"], "rights": ["list"]}]}
                """,
            #"""
            /usr/bin/python3 - <<'END'
            import secretstorage, subprocess
            from jeepney import DBusAddress, MatchRule, message_bus
            connection = secretstorage.dbus_init()
            rule = MatchRule(type='signal', interface='org.freedesktop.Secret.Collection')
            with connection.filter(rule, bufsize=64) as queue:
                connection.send_and_get_reply(message_bus.AddMatch(rule))
                subprocess.run('printf x | secret-tool store --label=L a 1; printf y | secret-tool store --label=L a 1; '
                               'secret-tool clear a 1', shell=True)
                signals = [connection.recv_until_filtered(queue, timeout=10) for _ in range(3)]
            print([s.header.fields[3] for s in signals], len({s.body[0] for s in signals}))
            END
            """#)
        expect(outcome, ["['ItemCreated', 'ItemChanged', 'ItemDeleted'] 1"])
    }

    /// The name on a bus stays with its owner, unless that lets go of it.
    @Test func nameOnTheBus() throws {
        let outcome = try served(
            .bus,
            #"""
            other() { timeout 5 keychaind --socket "$HOME/other/socket" --home "$HOME/other/home" --no-lock-signals \
                --entitlements "$HOME/entitlements.json" --session-bus "$@"; }
            other 2>&1 | grep -c 'has the name org.freedesktop.secrets on the bus, and keeps it'
            printf swordfish | secret-tool store --label=Mine a 1
            other --replace 2>/dev/null & until grep -q 'took org.freedesktop.secrets' daemon.log; do sleep 0.05; done
            secret-tool lookup a 1; echo $?; wait
            """#)
        expect(outcome, ["1", "1"])
    }

    /// A sandboxed application gets a secret of its own through Debian's xdg-desktop-portal.
    @Test func portal() throws {
        let description = """
            [portal]
            DBusName=org.freedesktop.impl.portal.desktop.keychain
            Interfaces=org.freedesktop.impl.portal.Secret
            UseIn=keychain
            """
        try Data((description + "\n").utf8).write(to: URL(filePath: workplace.path + "/keychain.portal"))
        let outcome = try served(
            .bus,
            #"""
            export XDG_DESKTOP_PORTAL_DIR="$HOME" XDG_CURRENT_DESKTOP=keychain XDG_RUNTIME_DIR="$HOME/run"
            /usr/libexec/xdg-desktop-portal 2>/dev/null & portal=$!
            cat > ask.py <<'END'
            import os, sys, time
            from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
            from jeepney.io.blocking import open_dbus_connection
            connection = open_dbus_connection(enable_fds=True)
            def call(address, member, signature, arguments):
                return connection.send_and_get_reply(new_method_call(address, member, signature, arguments))
            desktop = DBusAddress('/org/freedesktop/portal/desktop', 'org.freedesktop.portal.Desktop',
                                  'org.freedesktop.portal.Secret')
            while not connection.send_and_get_reply(message_bus.NameHasOwner(desktop.bus_name)).body[0]: time.sleep(0.1)
            rule = MatchRule(type='signal', interface='org.freedesktop.portal.Request')
            connection.send_and_get_reply(message_bus.AddMatch(rule))
            read, write = os.pipe()
            with connection.filter(rule) as queue:
                call(desktop, 'RetrieveSecret', 'ha{sv}', (write, {}))
                response = connection.recv_until_filtered(queue, timeout=20).body[0]
            os.close(write)
            secret = os.read(read, 1000)
            print(response, len(secret), secret.hex(), file=sys.stderr)
            # Nobody but the portal may ask for the secret of an application.
            backend = DBusAddress('/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.desktop.keychain',
                                  'org.freedesktop.impl.portal.Secret')
            read, write = os.pipe()
            print(call(backend, 'RetrieveSecret', 'osha{sv}', ('/a', 'org.example.App', write, {})).header.fields[4],
                  file=sys.stderr)
            END
            /usr/bin/python3 ask.py 2> first; /usr/bin/python3 ask.py 2> second; cmp first second && cut -d' ' -f1,2 first
            keychain list --json | grep -o '"service":"[^"]*"'; kill $portal
            """#)
        expect(
            outcome,
            ["0 64", "org.freedesktop.DBus.Error.AccessDenied", #""service":"org.freedesktop.portal.Secret""#])
    }

    static let peer = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Peer/secrets_peer.py"

    /// What one program does to the socket or the bus keeps no other from its answers, and takes little memory.
    @Test(arguments: Place.allCases) func hostilePrograms(_ place: Place) throws {
        let outcome = try served(
            place,
            #"""
            cp /usr/bin/python3 hostile; ./hostile '\#(Self.peer)' attack 5 2>attacks & attack=$!
            for round in 1 2 3 4 5 6 7 8; do
                printf swordfish | timeout 10 secret-tool store --label=L round $round
                echo "$(timeout 10 secret-tool lookup round $round)"
            done
            wait $attack; cat attacks
            echo "$(timeout 10 secret-tool lookup round 1)"
            awk '/VmHWM/ { print ($2 < 300000) ? "little memory" : $2 }' /proc/$(pgrep -f "home $HOME/served")/status
            """#)
        expect(outcome, [String](repeating: "swordfish", count: 8) + ["every attack", "swordfish", "little memory"])
    }
}
