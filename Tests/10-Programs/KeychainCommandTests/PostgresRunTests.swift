#if HTTPClientSupport
import Foundation
import TestSupport
import Testing

/// `keychain run --broker` with a real PostgreSQL server, real clients of it, and programs and servers that want more
/// than they may have.
@Suite struct PostgresRunTests {
    private let workplace: Workplace
    private static let secret = "correct-horse-battery-staple-Zürich"

    init() throws { workplace = try Workplace() }

    private static var peers: String { URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer" }

    /// The beginning of each script: a server, an item, and what runs a program under the broker.
    private static let begin = """
        peers='\(peers)'; mkdir server run; chmod 700 run; mkfifo in; export XDG_RUNTIME_DIR=$HOME/run
        printf %s '\(secret)' > secret
        SECRET='\(secret)' /usr/bin/python3 -B "$peers/postgres_server.py" server < in > port 2> server.log & server=$!
        exec 9> in
        until [ -s port ]; do kill -0 $server || { cat server.log; exit 1; }; sleep 0.05; done
        port=$(cat port)
        \(vault)
        """

    private static let vault = """
        export KEYCHAIN_AUDIT=1 PGCONNECT_TIMEOUT=60
        keychain set db app < secret || exit 1
        brokered() {
            rule=$1; shift
            keychain run --broker "PGPASSWORD=keychain://db/app to $rule" --broker-authority server/authority.pem "$@"
        }
        shop() { brokered "postgres://app@db.example.test:$port/shop at 127.0.0.1" "$@"; }
        log_in() { /usr/bin/python3 -B "$peers/postgres_attack.py" login "$@"; }
        requests() { keychain audit --broker --json | /usr/bin/python3 -c "
        import json, sys
        for line in sys.stdin:
            one = json.loads(line)['request']
            print(one['outcome'], one['method'], one['path'], one.get('reason', ''))" | sort | uniq -c | sed 's/^ *//'; }
        """

    private func script(_ text: String, begin: String = Self.begin) throws -> ProgramOutcome {
        try workplace.run(["/bin/sh", "-c", "cd \"$HOME\"\n" + begin + "\n" + text])
    }

    private func lines(_ text: String, begin: String = Self.begin) throws -> [String] {
        let outcome = try script(text, begin: begin)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    /// psql asks, and takes and gives some megabytes, and has the password nowhere.
    @Test func psqlUsesWhatItDoesNotHave() throws {
        let text = try lines(
            #"""
            shop --summary -- sh -c '
                psql -qXAt -c "CREATE TABLE t (n int, v text)" -c "SELECT current_user, current_database()"
                seq 300000 | sed "s/.*/&,some more text to be copied &/" > rows
                psql -qX -c "\copy t from rows csv" && psql -qX -c "\copy t to back csv" && cmp rows back && echo same
                mkfifo quiet; psql -qXAt < quiet > out & exec 8> quiet; echo "SELECT 6*7;" >&8
                until grep -qs 42 out; do sleep 0.05; done
                /usr/bin/python3 -B "$0/memory_search.py" $! secret | cut -d " " -f 1-2
                exec 8>&-; wait' "$peers" 2> err || cat err
            sed 's/:[0-9][0-9]*/:PORT/' err
            grep -rlF "$(cat secret)" run; keychain audit --broker --json | grep -cF "$(cat secret)"
            requests
            """#)
        #expect(
            text == [
                "app|shop", "same", "nothing in", "keychain: PGPASSWORD logged in at db.example.test:PORT 4 times", "0",
                "4 placed LOGIN /shop ",
            ], "\(text)")
    }

    /// Several connections at once, queries that are ended, and a driver of Python.
    @Test func connectionsAndCancellation() throws {
        let text = try lines(
            """
            shop -- /usr/bin/python3 -c '
            import concurrent.futures, psycopg2, threading, time
            def one(number):
                with psycopg2.connect("") as connection, connection.cursor() as cursor:
                    cursor.execute("SELECT sum(n) + %s FROM generate_series(1, 1000) n", [number])
                    return cursor.fetchone()[0] - number
            with concurrent.futures.ThreadPoolExecutor(16) as pool: print(set(pool.map(one, range(48))))
            connection = psycopg2.connect("")
            def end():
                while True:
                    time.sleep(0.2)
                    if over.is_set(): return
                    connection.cancel()
            over = threading.Event()
            thread = threading.Thread(target=end)
            thread.start()
            try: connection.cursor().execute("SELECT pg_sleep(600)")
            except psycopg2.errors.QueryCanceled: print("ended")
            over.set(); thread.join()
            '
            """)
        #expect(text == ["{500500}", "ended"], "\(text)")
    }

    @Test func wholeURLs() throws {
        let text = try lines(
            """
            keychain run --broker-authority server/authority.pem \\
                --broker "SHOP_URL=keychain://db/app to postgres://app@db.example.test:$port/shop at 127.0.0.1" \\
                --broker "OTHER_URL=keychain://db/app to postgresql://app@db.example.test:$port at 127.0.0.1" -- sh -c '
                psql -qXAt "$SHOP_URL" -c "SELECT current_database()"
                psql -qXAt "$(echo "$OTHER_URL" | sed "s,/?,/other?,")" -c "SELECT current_database()"
                echo "host $PGHOST"'
            keychain run --broker "A=keychain://db/app to postgres://app@a.test/x" \\
                --broker "B=keychain://db/app to postgres://app@b.test/x" -- true 2>&1 | grep -c 'by a URL'
            """)
        #expect(text == ["shop", "other", "host ", "1"], "\(text)")
    }

    /// An isolated program finds the databases on its own loopback interface, and nothing else.
    @Test func isolated() throws {
        let text = try lines(
            """
            mkdir project; authority=$HOME/server/authority.pem; server="db.example.test:$port"; cd project
            keychain run --isolated --broker "PGPASSWORD=keychain://db/app to postgres://app@$server/shop at 127.0.0.1" \\
                --broker-authority "$authority" -- sh -c '
                psql -qXAt -c "SELECT current_user"; echo $PGPORT; env -u PGHOSTADDR psql -qXAt -p '$port' 2>&1 | grep -c refused'
            keychain run --isolated --broker "A_URL=keychain://db/app to postgres://app@$server/shop at 127.0.0.1" \\
                --broker "B_URL=keychain://db/app to postgres://app@$server/other at 127.0.0.1" \\
                --broker-authority "$authority" -- sh -c '
                for url in "$A_URL" "$B_URL"; do psql -qXAt "$url" -c "SELECT current_database()"; done'
            """)
        #expect(text == ["app", "5432", "1", "shop", "other"], "\(text)")
    }

    /// What the rule does not say is refused, by the broker.
    @Test func onlyWhatTheRuleSays() throws {
        let text = try lines(
            """
            shop -- sh -c '
                p="$PGPORT"; log() { /usr/bin/python3 -B "$0/postgres_attack.py" login "$p" "$@"; }
                log app shop "$PGPASSWORD"; log app shop "$PGPASSWORD" 3.2; log app shop "$PGPASSWORD" _pq_.x=1
                log app shop "${PGPASSWORD}x"; log app shop ""; log app shop "$(cat secret)"
                log owner shop "$PGPASSWORD"; log app other "$PGPASSWORD"; log app shop "$PGPASSWORD" replication=true
                ' "$peers" 2> err
            brokered "postgres://app@db.example.test:$port/shop at 127.0.0.1 times 2" -- sh -c '
                for n in 1 2 3; do psql -qXAt -c "SELECT 1" 2>&1 | tail -n 1 | sed "s/.*keychain: //"; done' 2>> err
            sed 's/port [0-9]*/port PORT/' err | sort -u; requests
            """)
        let wrong = "28P01 keychain: the password is not the placeholder of PGPASSWORD in the program's environment"
        let (user, database, replication, used) = (
            "the rule is for the user app, and the program asks for another one",
            "the rule is for the database shop, and the program asks for another one",
            "the broker makes no connection for replication",
            "the rule for PGPASSWORD has 'times 2', which is used up"
        )
        let place = "keychain: PGPASSWORD: LOGIN to db.example.test, port PORT: "
        #expect(
            text.map { $0.trimmingCharacters(in: .whitespaces) } == [
                "in", "version in", "version in", wrong, wrong, wrong, "28000 keychain: \(user)",
                "28000 keychain: \(database)", "28000 keychain: \(replication)", "1", "1", used,
                place + replication, place + used, place + database, place + user,
                "5 placed LOGIN /shop", "1 refused LOGIN /shop \(replication)", "1 refused LOGIN /shop \(used)",
                "1 refused LOGIN /shop \(database)", "1 refused LOGIN /shop \(user)",
            ], "\(text)")
    }

    /// A server gets no less than the rule says: SCRAM, over TLS, from one that has the name.
    @Test func onlyTheServerOfTheRule() throws {
        let text = try lines(
            """
            # What keychain says itself could come into the middle of a line of psql.
            try() { "$@" -- sh -c 'psql -qXAt -c "SELECT current_user" 2>&1' 2> err | sed 's/.*keychain: //'; }
            at="$port/shop at 127.0.0.1"
            try brokered "postgres://app@elsewhere.example.test:$at"
            try keychain run --broker "PGPASSWORD=keychain://db/app to postgres://app@db.example.test:$at" \\
                --broker-authority server/stranger.pem
            try brokered "postgres://old@db.example.test:$at"
            try brokered "postgres://plain@db.example.test:$at"
            try brokered "postgres+password://plain@db.example.test:$at"
            try brokered "postgres://open@db.example.test:$at"
            try brokered "postgres://app@localhost:$port/shop"
            try brokered "postgres://app@db.example.test:$port/missing at 127.0.0.1"
            printf wrong-password | keychain set db app || exit 1
            try shop
            """)
        let weaker = "and not SCRAM-SHA-256: the rule does not allow that"
        #expect(text.count == 9, "\(text)")
        guard text.count == 9 else { return }
        #expect(text[0] == "the certificate of the server does not name elsewhere.example.test")
        #expect(text[1].hasPrefix("no authority that is known signed the certificate"))
        #expect(text[2] == "the server wants md5 \(weaker)")
        #expect(text[3] == "the server wants the password itself \(weaker)")
        #expect(text[4] == "plain")
        #expect(text[5] == "the server wants no password \(weaker)")
        #expect(text[6].contains("is of this machine or of its link"))
        #expect(text[7] == #"the server says: database "missing" does not exist"#)
        #expect(text[8] == #"the server says: password authentication failed for user "app""#)
    }

    /// A session does not go on after its rule has ended.
    @Test func aRuleEndsItsSessions() throws {
        let text = try lines(
            """
            brokered "postgres://app@db.example.test:$port/shop at 127.0.0.1 until 8s" -- sh -c '
                psql -qXAt -c "SELECT 1" -c "SELECT pg_sleep(250)" 2>&1 | head -n 2
                psql -qXAt -c "SELECT 1" 2>&1 | tail -n 1 | sed "s/.*keychain: //"' 2> err || cat err
            """)
        #expect(text.count == 3 && text.first == "1", "\(text)")
        #expect(text.dropFirst().first?.contains("closed the connection") == true, "\(text)")
        #expect(text.last == "the rule for PGPASSWORD has ended", "\(text)")
    }

    /// A server that is gone and comes back, and a broker that is killed.
    @Test func kills() throws {
        let text = try lines(
            """
            wait_for() { until [ "$(wc -l < server/done 2> /dev/null)" = "$1" ]; do sleep 0.05; done; }
            shop -- sh -c 'echo $PPID > run.pid; until [ -e over ]; do
                if psql -qXAt -c "SELECT 1" > /dev/null 2>&1; then echo in; else echo out; fi >> tries; sleep 0.1; done' 2> err &
            seen() { : > tries; until grep -qx $1 tries; do sleep 0.05; done; echo $1; }
            seen in; echo stop >&9; wait_for 1; seen out; echo restart >&9; wait_for 2; seen in
            kill -9 $(pgrep -x keychain-broker -P $(cat run.pid)); seen out; touch over; wait $!; echo $?
            grep -c 'keychain-broker ended' err
            """)
        #expect(text == ["in", "out", "in", "out", "0", "1"], "\(text)")
    }

    /// Whatever a program says is answered or ends, and honest log-ins go on.
    @Test func anyBytesOfAProgram() throws {
        let count = TestScale.count(300, soak: 1_000_000)
        let text = try lines(
            """
            shop -- sh -c '
                attack() { /usr/bin/python3 -B "$0/postgres_attack.py" "$@"; }
                attack fuzz "$PGPORT" \(count) \(UInt32.random(in: 0...UInt32.max)) && psql -qXAt -c "SELECT 1"
                attack strangers "$PGPORT" 40 & psql -qXAt -c "SELECT 2"; wait' "$peers" 2> err || cat err
            grep 'keychain-broker ended' err; true
            """)
        #expect(text == ["1", "2", "40 closed late"], "\(text)")
    }

    /// No lie of a server gets the password or a session, and none ends the broker.
    @Test func anyBytesOfAServer() throws {
        let begin = """
            peers='\(Self.peers)'; mkdir server run; chmod 700 run; mkfifo in; export XDG_RUNTIME_DIR=$HOME/run
            printf %s '\(Self.secret)' > secret
            /usr/bin/python3 -B -c "import sys; sys.path.insert(0, '$peers'); import broker_server
            broker_server.NAMES = ['db.example.test']; broker_server.make_certificates('server')"
            /usr/bin/python3 -B "$peers/postgres_attack.py" serve server < in > port 2> server.log & exec 9> in
            until [ -s port ]; do sleep 0.05; done; port=$(cat port)
            \(Self.vault)
            """
        let count = TestScale.count(60, soak: 100_000)
        let outcome = try script(
            """
            shop -- sh -c '
                for n in $(seq \(21 + count)); do
                    /usr/bin/python3 -B "$0/postgres_attack.py" login "$PGPORT" app shop "$PGPASSWORD"; done
                ' "$peers" > out 2> err
            [ -s server/proofs ] && grep -qiF -f server/proofs out && echo proof
            grep -c keychain: out; grep -cx 'in\\|version in' out; grep -cF "$(cat secret)" out err server/lies
            grep 'keychain-broker ended' err; keychain audit --broker --json | wc -l; head -21 out
            """, begin: begin)
        let text = outcome.text.split(separator: "\n").map(String.init)
        #expect(
            text.prefix(6) == ["\(21 + count)", "0", "out:0", "err:0", "server/lies:0", "\(21 + count)"],
            "\(outcome.text)\(outcome.errors)")
        let reasons = [
            "no password and", "password itself", "md5", "GSSAPI", "no password and", "did not prove", "malformed",
            "malformed", "1 iterations", "4000000000 iterations", "malformed", "malformed", "no place", "", "",
            "the server says: no", "log-in",
            "ended the connection", "does not speak TLS", "more than the answer", "does not speak TLS",
        ]
        for (line, reason) in zip(text.dropFirst(6), reasons) where !reason.isEmpty {
            #expect(line.contains(reason), "\(line)")
        }
    }
}
#endif
