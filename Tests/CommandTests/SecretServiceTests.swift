import Foundation
import Glibc
import TestSupport
import Testing

/// Programs that ask for a Secret Service on the session bus, unmodified, and get the keychain: Debian's secret-tool
/// and docker helper, and Python's SecretStorage.
@Suite struct SecretServiceTests {
    private func run(_ workplace: Workplace, _ script: String, service: Bool = true) throws -> ProgramOutcome {
        let file = workplace.path + "/script.sh"
        try Data(("cd \"$HOME\"\n" + script).utf8).write(to: URL(filePath: file))
        return try workplace.shell(
            (service ? "keychain run --secret-service -- " : "") + "timeout 60 bash '\(file)'")
    }

    @Test func secretTool() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            """
            printf swordfish | secret-tool store --label='The label' server example.org user alice
            printf herring | secret-tool store --label='Another' server example.org user bob
            secret-tool lookup server example.org user alice; echo " $?"
            secret-tool search --all server example.org 2>/dev/null | grep ^secret
            printf 'sword fish' | secret-tool store --label='The label' server example.org user alice
            secret-tool lookup user alice; echo; secret-tool lookup server other; echo $?
            secret-tool clear user alice; secret-tool lookup user alice; echo $?
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "swordfish 0", "secret = swordfish", "secret = herring", "sword fish", "1", "1",
            ], "\(outcome.errors)")
        // The items are the keychain's, in a group of their own, and stay.
        let later = try run(
            workplace,
            "keychain list --json | grep -c '\"group\":\"secret-service\"'; keychain run --secret-service -- secret-tool lookup user bob",
            service: false)
        #expect(later.text == "1\nherring", "\(later.errors)")
    }

    @Test func secretStorage() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            #"""
            /usr/bin/python3 - <<'END'
            import secretstorage
            connection = secretstorage.dbus_init()
            login = secretstorage.get_default_collection(connection)
            item = login.create_item('Label', {'a': '1', 'ü': 'ö'}, b'zero\0and \xff', content_type='application/x')
            print(login.get_label(), login.is_locked(), item.get_label(), sorted(item.get_attributes().items()))
            print(item.get_secret(), item.get_secret_content_type())
            again = login.create_item('Other', {'a': '1', 'ü': 'ö'}, b'new', replace=True)
            print(again == item, item.get_label(), item.get_secret(), len(list(login.search_items({'a': '1'}))))
            login.create_item('Second', {'a': '1'}, b'2')
            print(sorted(i.get_label() for i in login.search_items({'a': '1'})), list(login.search_items({'a': '2'})))
            item.set_attributes({'b': '3'})
            print([i.get_secret() for i in secretstorage.search_items(connection, {'b': '3'})])
            item.delete()
            try:
                item.get_label()
            except secretstorage.exceptions.ItemNotFoundException as error:
                print('gone')
            made = secretstorage.create_collection(connection, 'Mine')
            made.create_item('In it', {'c': '4'}, b'x')
            made.set_label('Renamed')
            print(sorted(c.get_label() for c in secretstorage.get_all_collections(connection)))
            made.delete()
            print(list(secretstorage.search_items(connection, {'c': '4'})))
            session = secretstorage.Collection(connection, '/org/freedesktop/secrets/collection/session')
            session.create_item('In memory', {'d': '5'}, b'y')
            print([i.get_secret() for i in secretstorage.search_items(connection, {'d': '5'})])
            END
            """#)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "Login False Label [('a', '1'), ('ü', 'ö')]", #"b'zero\x00and \xff' application/x"#,
                "True Other b'new' 1", "['Other', 'Second'] []", "[b'new']", "gone", "['Login', 'Renamed', 'Session']",
                "[]", "[b'y']",
            ], "\(outcome.errors)")
        // What was in memory is nowhere.
        let later = try run(workplace, "secret-tool lookup d 5; echo $?")
        #expect(later.text == "1\n")
    }

    @Test func dockersHelper() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            #"""
            d=docker-credential-secretservice
            echo '{"ServerURL":"https://registry.example.org","Username":"alice","Secret":"swordfish"}' | $d store
            echo https://registry.example.org | $d get; $d list
            echo https://registry.example.org | $d erase; $d list
            """#)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                #"{"ServerURL":"https://registry.example.org","Username":"alice","Secret":"swordfish"}"#,
                #"{"https://registry.example.org":"alice"}"#, "{}",
            ], "\(outcome.errors)")
    }

    @Test func otherUsersCannotReachIt() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            """
            printf swordfish | secret-tool store --label=L a 1; socket=${DBUS_SESSION_BUS_ADDRESS#unix:path=}
            stat -c %a "$socket" "$(dirname "$socket")"
            [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups secret-tool lookup a 1; echo $?
            """)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(lines.prefix(2) == ["600", "700"] && !lines.contains("swordfish"), "\(outcome.text)\(outcome.errors)")
        #expect(getuid() != 0 || lines.last != "0")
    }

    /// A program that sends nonsense, opens sessions without end or never reads does not keep another from its answers.
    @Test func hostilePrograms() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            #"""
            /usr/bin/python3 - <<'END' &
            import os, random, socket, time
            path = os.environ['DBUS_SESSION_BUS_ADDRESS'].split('path=')[1]
            generator = random.Random(1)
            kept = []
            for round in range(300):
                s = socket.socket(socket.AF_UNIX)
                s.connect(path)
                s.settimeout(1)
                try:
                    s.sendall(b'\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\r\nBEGIN\r\n')
                    s.sendall(bytes(generator.randrange(256) for _ in range(generator.randrange(400))))
                except OSError:
                    pass
                # Some stay connected, and never read.
                if round % 10 == 0 and len(kept) < 20:
                    kept.append(s)
                else:
                    s.close()
            print('done', flush=True)
            time.sleep(3)
            END
            for round in 1 2 3 4 5; do
                printf swordfish | timeout 10 secret-tool store --label=L round $round
                echo "$(timeout 10 secret-tool lookup round $round)"
            done
            wait
            /usr/bin/python3 - <<'END'
            import secretstorage
            connection = secretstorage.dbus_init()
            from jeepney import DBusAddress, new_method_call
            address = DBusAddress('/org/freedesktop/secrets', 'org.freedesktop.secrets', 'org.freedesktop.Secret.Service')
            names = [connection.send_and_get_reply(new_method_call(address, 'OpenSession', 'sv', ('plain', ('s', ''))))
                     .header.message_type.name for _ in range(300)]
            print(names.count('method_return'), names.count('error'))
            # A program may read many items with a session for each.
            login = secretstorage.get_default_collection(connection)
            login.create_item('L', {'many': '1'}, b'x')
            print({next(login.search_items({'many': '1'})).get_secret() for _ in range(300)})
            END
            """#)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(lines.filter { $0 == "swordfish" }.count == 5, "\(outcome.text)\(outcome.errors)")
        #expect(lines.contains("done") && lines.suffix(2) == ["300 0", "{b'x'}"], "\(outcome.text)\(outcome.errors)")
    }
}
