import Foundation
import TestSupport
import Testing

/// The processes that read what programs say to the Secret Service.
@Suite struct BusFrontTests {
    /// Python that knows the front processes of the daemon under test, and a second program: another file with the same
    /// code.
    private static let start = #"""
        import glob, os, secretstorage, signal, subprocess, sys, threading, time
        from jeepney import DBusAddress, HeaderFields, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        root = '/org/freedesktop/secrets'
        login = root + '/collection/login'
        def secret(name): return 'org.freedesktop.Secret.' + name
        def ask(connection, path, interface, member, signature='', arguments=()):
            answer = connection.send_and_get_reply(new_method_call(
                DBusAddress(path, 'org.freedesktop.secrets', interface), member, signature, arguments))
            error = answer.header.fields.get(HeaderFields.error_name)
            return error.split('.')[-1] if error else answer.body
        def status(process): return dict(line.split(':\t', 1) for line in open('/proc/%s/status' % process).read().splitlines())
        daemon = subprocess.run(['pgrep', '-f', 'home %s/served' % os.environ['HOME']], capture_output=True, text=True).stdout.split()[0]
        def children(processes):
            return [int(line) for process in processes for line in
                    subprocess.run(['pgrep', '-P', str(process)], capture_output=True, text=True).stdout.split()]
        def named(processes, name):
            found = []
            for process in processes:
                try:
                    if open('/proc/%d/comm' % process).read().strip() == name: found.append(process)
                except OSError: pass
            return found
        # The daemon has a guard, which has a starter, which has the fronts.
        def guards(): return named(children([daemon]), 'kc-bus-guard')
        def starters(): return named(children(guards()), 'kc-bus-start')
        def fronts(): return named(children(starters()), 'kc-bus-front')
        """#

    private func check(
        _ place: ServedSecretsTests.Place, seconds: Int = 100, _ script: String, _ lines: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try ServedSecretsTests().served(
            place,
            entitlements: """
                {"version": 1, "rules": [{"uid": \(getuid()), "groups": ["secret-service"], "rights": ["list"]}]}
                """, options: "--unlock-wait 1", seconds: seconds,
            "cat > start.py <<'END'\n\(Self.start)\nEND\nexport PYTHONPATH=$HOME PYTHONDONTWRITEBYTECODE=1\n"
                + "cp /usr/bin/python3 $HOME/other-program\n" + script)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == lines, "\(outcome.errors)",
            sourceLocation: sourceLocation)
    }

    /// No rights, no files, no network, no other process.
    @Test(arguments: ServedSecretsTests.Place.allCases)
    func aFrontHasNothing(_ place: ServedSecretsTests.Place) throws {
        try check(
            place,
            #"""
            /usr/bin/python3 - <<'END'
            from start import *
            c = open_dbus_connection()
            assert ask(c, root, secret('Service'), 'ReadAlias', 's', ('default',)) == (login,)
            # `keychain status` has one, too, as it looks for other services.
            for front in fronts()[-1:]:
                facts = status(front)
                print([facts[name].strip() for name in ['NoNewPrivs', 'Seccomp', 'CapEff', 'CapPrm', 'CapInh']],
                      int(facts['Seccomp_filters']) > 1, os.readlink('/proc/%d/ns/net' % front) != os.readlink('/proc/self/ns/net'),
                      facts['Uid'].split()[1] != '0')
                kinds = {os.readlink(path).split(':')[0] for path in glob.glob('/proc/%d/fd/*' % front)}
                print(sorted(kinds - {'/dev/null'}), 'HOME' in open('/proc/%d/environ' % front).read())
            END
            """#,
            [
                "['1', '2', '0000000000000000', '0000000000000000', '0000000000000000'] True True True",
                "['socket'] False",
            ])
    }

    /// A program has one front for all of its connections, and shares it with no other program.
    @Test func eachProgramHasItsOwnFront() throws {
        try check(
            .socket,
            #"""
            cat > connect.py <<'END'
            from start import *
            former = len(fronts())
            kept = [open_dbus_connection() for _ in range(3)]
            print([ask(c, root, secret('Service'), 'ReadAlias', 's', ('default',)) == (login,) for c in kept], len(fronts()) - former)
            sys.stdout.flush()
            if len(sys.argv) > 1: subprocess.run([os.environ['HOME'] + '/other-program', 'connect.py'])
            END
            /usr/bin/python3 connect.py again
            """#, ["[True, True, True] 1", "[True, True, True] 1"])
    }

    /// A user cannot have any number of fronts with any number of programs: one more ends the oldest.
    @Test func oneUserHasSoManyFronts() throws {
        try check(
            .socket,
            #"""
            cat > hold.py <<'END'
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX)
            s.connect(os.environ['DBUS_SESSION_BUS_ADDRESS'].split('path=')[1])
            try:
                s.sendall(b'\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\r\n')
                print(s.recv(100)[:3]); sys.stdout.flush()
            except OSError: print('refused'); sys.stdout.flush()
            sys.stdin.readline()
            s.setblocking(False)
            try: print('ended' if s.recv(1) == b'' else 'talks')
            except BlockingIOError: print('held')
            except OSError: print('ended')
            END
            mkdir programs; for number in $(seq 60); do ln other-program programs/$number; done
            /usr/bin/python3 - <<'END'
            from start import *
            for _ in range(2):
                held = [subprocess.Popen(['programs/%d' % number, '-S', 'hold.py'], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True) for number in range(1, 61)]
                said = [program.stdout.readline().strip() for program in held]
                time.sleep(0.5)
                print(said.count("b'OK '"), len(fronts()) <= 48)
                ends = [program.communicate('\n')[0].strip() for program in held]
                print(ends.count('held'), ends.count('ended'))
            c = open_dbus_connection()
            print(ask(c, root, secret('Service'), 'ReadAlias', 's', ('default',)) == (login,))
            END
            """#, ["60 True", "48 12", "60 True", "48 12", "True"])
    }

    /// A front that reads nothing, so that its queue is full, is ended for another one as well.
    @Test func aFrontWithAFullQueueEnds() throws {
        try check(
            .socket,
            #"""
            mkdir programs; for number in $(seq 60); do ln other-program programs/$number; done
            /usr/bin/python3 - <<'END'
            from start import *
            import socket
            def connect():
                s = socket.socket(socket.AF_UNIX)
                s.connect(os.environ['DBUS_SESSION_BUS_ADDRESS'].split('path=')[1])
                return s
            former = set(fronts())
            first = open_dbus_connection()
            mine = sorted(set(fronts()) - former)
            os.kill(mine[0], signal.SIGSTOP)
            kept = [connect() for _ in range(600)]
            time.sleep(1)
            use = 'import os, secretstorage, sys; secretstorage.dbus_init(); print(1); sys.stdout.flush(); sys.stdin.readline()'
            held, said = [], set()
            # A few at once: the front of a program that is slow to start must not be among the oldest.
            for begin in range(1, 60, 10):
                started = [subprocess.Popen(['programs/%d' % number, '-c', use], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                           for number in range(begin, min(begin + 10, 60))]
                said |= {program.stdout.readline().strip() for program in started}
                held += started
            print(said)
            os.kill(mine[0], signal.SIGCONT)
            end = time.time() + 10
            while mine[0] in fronts() and time.time() < end: time.sleep(0.05)
            print(mine[0] in fronts(), len(fronts()) <= 48)
            for program in held: program.communicate('\n')
            END
            """#, ["{'1'}", "False True"])
    }

    /// Somebody who ends what starts the fronts and what guards it cuts programs off, and the status says so.
    @Test func theStatusTellsThatNoFrontCanBeStarted() throws {
        try check(
            .socket,
            #"""
            /usr/bin/python3 - <<'END'
            from start import *
            def problems(): return subprocess.run(['keychain', 'status'], capture_output=True, text=True).stdout.count('Secret Service is not there')
            before = problems()
            for process in guards() + starters():
                os.kill(process, signal.SIGKILL)
            end = time.time() + 10
            while not problems() and time.time() < end: time.sleep(0.1)
            try: print(open_dbus_connection())
            except Exception as error: print('refused')
            print(before, problems(), subprocess.run(['keychain', 'status', '--json'], capture_output=True, text=True).stdout.count('"secret-service"'))
            END
            """#, ["refused", "0 1 1"])
    }

    /// Each time that somebody kills a program's front, that program's connections end with an error, and another
    /// program notices nothing. At full counts a thousand times.
    @Test func killedFronts() throws {
        let kills = TestScale.count(25, soak: 1_000)
        try check(
            .socket, seconds: 60 + kills * 2,
            #"""
            cat > other.py <<'END'
            from start import *
            c = secretstorage.dbus_init()
            made = secretstorage.Collection(c).create_item('Other', {'o': '1'}, b'herring')
            print('ready'); sys.stdout.flush()
            count = 0
            while not os.path.exists('stop'):
                assert made.get_secret() == b'herring' and made.get_label() == 'Other'
                count += 1
            print(count > 0)
            END
            /usr/bin/python3 - <<'END'
            from start import *
            other = subprocess.Popen([os.environ['HOME'] + '/other-program', 'other.py'], stdout=subprocess.PIPE, text=True)
            assert other.stdout.readline() == 'ready\n'
            kept = set(fronts())
            def isEnd(error): return any(text in repr(error) for text in ['reset by peer', 'Broken pipe', 'EOF', 'ConnectionReset'])
            wrong, ends, right = [], [0], [0]
            stop = threading.Event()
            def work(number):
                while not stop.is_set():
                    try:
                        c = secretstorage.dbus_init()
                        item = secretstorage.Collection(c).create_item('Mine', {'n': str(number)}, b'x%d' % number, replace=True)
                        while not stop.is_set():
                            found = [one.get_secret() for one in secretstorage.search_items(c, {'n': str(number)})]
                            if found != [b'x%d' % number]: wrong.append(found)
                            right[0] += 1
                    except Exception as error:
                        if isEnd(error): ends[0] += 1
                        else: wrong.append(repr(error))
            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads: thread.start()
            killed = 0
            while killed < KILLS:
                mine = [front for front in fronts() if front not in kept]
                for front in mine:
                    try: os.kill(front, signal.SIGKILL)
                    except ProcessLookupError: continue
                    killed += 1
                time.sleep(0.02)
            # Then all that belongs to the front's side.
            for _ in range(3):
                mine, former = [front for front in fronts() if front not in kept], starters()
                for process in former: os.kill(process, signal.SIGKILL)
                while not starters() or starters() == former: time.sleep(0.02)
                for front in mine:
                    try: os.kill(front, signal.SIGKILL)
                    except ProcessLookupError: pass
            before = right[0]
            end = time.time() + 20
            while right[0] <= before + 4 and time.time() < end: time.sleep(0.05)
            stop.set(); open('stop', 'w')
            for thread in threads: thread.join()
            print(wrong, ends[0] >= KILLS, right[0] > before + 4, other.stdout.read().strip(), other.wait())
            print(subprocess.run(['secret-tool', 'lookup', 'o', '1'], capture_output=True).stdout)
            END
            """#.replacingOccurrences(of: "KILLS", with: "\(kills)"),
            ["[] True True True 0", "b'herring'"])
    }

    /// What went through a front is not in its memory any more once the conversation is over.
    @Test(arguments: ServedSecretsTests.Place.allCases)
    func memoryAfterAConversation(_ place: ServedSecretsTests.Place) throws {
        try check(
            place,
            #"""
            /usr/bin/python3 - <<'END'
            from start import *
            import re, secrets
            made = [secrets.token_hex(30).encode() for _ in range(30)] + [secrets.token_hex(50_000).encode()]
            former = set(fronts())
            c = open_dbus_connection()
            session = ask(c, root, secret('Service'), 'OpenSession', 'sv', ('plain', ('s', '')))[1]
            paths = []
            for number, value in enumerate(made):
                path = ask(c, login, secret('Collection'), 'CreateItem', 'a{sv}(oayays)b', (
                    {secret('Item.Label'): ('s', 'L'), secret('Item.Attributes'): ('a{ss}', {'p': str(number)})},
                    (session, b'', value, 'text/plain'), False))[0]
                assert ask(c, path, secret('Item'), 'GetSecret', 'o', (session,))[0][2] == value
                paths.append(path)
            assert len(ask(c, root, secret('Service'), 'GetSecrets', 'aoo', (paths, session))[0]) == len(made)
            front = (sorted(set(fronts()) - former) or fronts())[-1]
            c.close()
            time.sleep(0.2)
            memory = open('/proc/%d/mem' % front, 'rb')
            found = pages = 0
            for line in open('/proc/%d/maps' % front):
                start, end, rights = re.match('(\\w+)-(\\w+) (...)', line).groups()
                if rights[:2] != 'rw': continue
                memory.seek(int(start, 16))
                try: held = memory.read(int(end, 16) - int(start, 16))
                except OSError: continue
                pages += len(held)
                for value in made: found += held.count(value[:60])
            print(found, pages > 100_000)
            END
            """#, ["0 True"])
    }
}
