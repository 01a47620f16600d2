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
                "swordfish 0", "secret = herring", "secret = swordfish", "sword fish", "1", "1",
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

    private static let call =
        "secrets() { busctl --address=\"$DBUS_SESSION_BUS_ADDRESS\" call org.freedesktop.secrets \"$@\"; }; "
        + "service() { secrets /org/freedesktop/secrets org.freedesktop.Secret.Service \"$@\"; }\n"

    /// An item that needs a person or a password of its own does not keep the others from being found.
    @Test func itemsThatNeedAPersonAreLeftOut() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            Self.call + """
                printf 'long enough' > password; printf x > secret
                keychain set own one --group secret-service --require password --item-password-fd 3 3<password <secret
                keychain set secret-service/login two --group secret-service --attribute a=1 --require password \
                    --item-password-fd 3 3<password <secret
                printf swordfish | secret-tool store --label=L a 1
                service SearchItems 'a{ss}' 0 | cut -d' ' -f2; service SearchItems 'a{ss}' 1 a 1 | cut -d' ' -f2
                secret-tool lookup a 1; echo; secrets /org/freedesktop/secrets/collection/login \
                    org.freedesktop.Secret.Collection SearchItems 'a{ss}' 0 | cut -d' ' -f2
                secret-tool clear a 1; secret-tool lookup a 1 || echo none; keychain list --group secret-service 2>&1
                """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "1", "1", "swordfish", "1", "none",
                "own\tone\tsecret-service\tneeds a person", "secret-service/login\ttwo\tsecret-service\tneeds a person",
            ], "\(outcome.errors)")
    }

    /// `busctl tree` goes down from the root, and finds what the program may see.
    @Test func objectsAreFoundFromTheRoot() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            """
            tree() { busctl --address="$DBUS_SESSION_BUS_ADDRESS" tree --list org.freedesktop.secrets; }
            tree | grep -c /; printf swordfish | secret-tool store --label=L a 1
            printf swordfish | secret-tool store --label=L --collection=session a 2
            keychain set other thing < /dev/null --allow-empty; keychain set secret-service/login thing < /dev/null --allow-empty
            tree | sed 's/[0-9a-f]\\{32\\}/ID/'
            /usr/bin/python3 - <<'END'
            import secretstorage
            connection = secretstorage.dbus_init()
            made = secretstorage.create_collection(connection, 'Many')
            for number in range(1010): made.create_item('L', {'n': str(number)}, b'x')
            END
            tree | grep -c Many
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "9", "/", "/org", "/org/freedesktop", "/org/freedesktop/secrets", "/org/freedesktop/secrets/aliases",
                "/org/freedesktop/secrets/aliases/default", "/org/freedesktop/secrets/collection",
                "/org/freedesktop/secrets/collection/login", "/org/freedesktop/secrets/collection/login/ID",
                "/org/freedesktop/secrets/collection/session", "/org/freedesktop/secrets/collection/session/ID", "1001",
            ], "\(outcome.text)\(outcome.errors)")
    }

    /// There is nothing to lock, and libsecret's programs do not expect an error.
    @Test func aLockWithoutAPasscodeLocksNothing() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            Self.call + """
                printf swordfish | secret-tool store --label=L a 1
                service Lock ao 1 /org/freedesktop/secrets/collection/login; echo $?
                secret-tool lock --collection=login >/dev/null 2>&1; secret-tool lookup a 1; echo " $?"
                """)
        #expect(outcome.text == "aoo 0 \"/\"\n0\nswordfish 0\n", "\(outcome.errors)")
    }

    /// libsecret's simple calls take the first item.
    @Test func theItemThatChangedLastComesFirst() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            """
            for user in one two three; do printf $user | secret-tool store --label=L server s user $user; done
            secret-tool lookup server s; echo; printf again | secret-tool store --label=L server s user one
            secret-tool lookup server s; echo; secret-tool search --all server s 2>/dev/null | grep ^secret
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "three", "again", "secret = again", "secret = three", "secret = two",
            ], "\(outcome.errors)")
    }

    @Test func longNamesOfAttributesAreRefused() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            Self.call + """
                name=$(printf 'n%.0s' $(seq 255))
                printf swordfish | secret-tool store --label=L $name 1; secret-tool lookup $name 1; echo " $?"
                printf herring | secret-tool store --label=L n$name 1 2>&1; echo $?
                service SearchItems 'a{ss}' 1 n$name 1 2>&1
                """)
        let words = "the name of a custom attribute has 1 to 255 bytes"
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "swordfish 0", "\(outcome.errors)")
        #expect(lines.count == 4 && lines[1].hasSuffix(words) && lines[2] == "1", "\(outcome.text)")
        #expect(lines.last == "Call failed: \(words)", "\(outcome.text)")
    }

    /// What a program stored is recognized by its label, and read by that or by its attributes.
    @Test func theCommandFindsItemsOfPrograms() throws {
        let workplace = try Workplace()
        let outcome = try run(
            workplace,
            """
            printf swordfish | secret-tool store --label='Token of Ada' server example.org user ada
            printf herring | secret-tool store --label='Token of Bob' server example.org user bob
            printf tuna | keychain internet set https://ada@git.example.org
            keychain list | cut -f1,3,4 | sort
            keychain get --label 'Token of Ada'; echo; keychain get --attribute user=bob --attribute server=example.org; echo
            keychain get --label https://git.example.org; echo; keychain get --attribute user=ada --label 'Token of Ada' --json
            keychain get --attribute server=example.org; echo $?; keychain get --attribute server=none; echo $?
            keychain get --attribute server=example.org 2>&1 | grep -o 'Token of [A-Z][a-z]*' | sort
            keychain get --attribute bad 2>&1 | grep -c attribute; keychain get secret-service/login; echo $?
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "secret-service/login\tsecret-service\tToken of Ada",
                "secret-service/login\tsecret-service\tToken of Bob",
                "swordfish", "herring", "tuna", #"{"base64":"c3dvcmRmaXNo","utf8":"swordfish"}"#, "1", "44",
                "Token of Ada",
                "Token of Bob", "1", "64",
            ], "\(outcome.errors)")
    }

    /// Both backends of Python's keyring, the one for a Secret Service and the keychain's own, have the same passwords.
    @Test func bothBackendsOfKeyringFindTheSameItem() throws {
        let workplace = try Workplace()
        let folder =
            Repository.file("Integrations/python-keyring").path
        let outcome = try run(
            workplace,
            """
            ln -s "$(command -v keychain)" bin/git-credential-keychain
            export PYTHONPATH='\(folder)' PYTHONDONTWRITEBYTECODE=1
            cat > try.py <<'END'
            import keyring.backends.SecretService, keyring_keychain
            own, service = keyring_keychain.Keyring(), keyring.backends.SecretService.Keyring()
            def both(*name): print(own.get_password(*name), service.get_password(*name))
            service.set_password('one.example', 'ada', 'first'); both('one.example', 'ada')
            own.set_password('one.example', 'ada', 'second'); both('one.example', 'ada')
            service.set_password('one.example', 'ada', 'third'); both('one.example', 'ada')
            own.set_password('two.example', 'bob', 'first'); both('two.example', 'bob')
            service.set_password('two.example', 'bob', 'second'); both('two.example', 'bob')
            own.set_password('two.example', 'bob', 'third'); both('two.example', 'bob')
            for backend in own, service:
                found = backend.get_credential('two.example', None)
                print(found.username, found.password)
            both('one.example', 'bob')
            END
            /usr/bin/python3 try.py; keychain list | cut -f3,4 | sort; keychain get two.example bob; echo
            /usr/bin/python3 - <<'END'
            exec(open('try.py').read().split('service.set')[0])
            service.delete_password('two.example', 'bob'); both('two.example', 'bob')
            own.delete_password('one.example', 'ada'); both('one.example', 'ada')
            END
            keychain list
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "first first", "second second", "third third", "first first", "second second", "third third",
                "bob third",
                "bob third", "None None", "secret-service",
                "secret-service\tPassword for 'ada' on 'one.example'",
                "third", "None None", "None None",
            ], "\(outcome.text)\(outcome.errors)")
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
