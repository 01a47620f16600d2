#if HTTPClientSupport
import Foundation
import TestSupport
import Testing

/// `keychain token` and the broker's logins, with a real authorization server that ends a login whose refresh token
/// comes again after its successor was used.
@Suite struct LoginTests {
    private let workplace: Workplace

    init() throws { workplace = try Workplace() }

    private static var peers: String { URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer" }
    /// Where `Scripts/install/setup.sh --tests` puts oauthlib.
    private static let packages = Repository.file(".build/test-vectors").path

    /// The beginning of each script: a server, a login, and what asks and counts.
    private static var begin: String {
        """
        peers='\(peers)'; mkdir server run; chmod 700 run; mkfifo in; export XDG_RUNTIME_DIR=$HOME/run
        PYTHONPATH='\(packages)' /usr/bin/python3 -B "$peers/oauth_server.py" server < in > ports 2> server.log & exec 9> in
        until [ -s ports ]; do kill -0 $! || { cat server.log; exit 97; }; sleep 0.05; done
        port() { /usr/bin/python3 -c "import json; print(json.load(open('ports'))['$1'])"; }
        tls=$(port tls) other=$(port other)
        export KEYCHAIN_AUDIT=1
        settings() { printf %s "$1" > server/new; mv server/new server/settings; }
        endpoint() { echo "--token-endpoint https://api.example.test:$tls/token --address 127.0.0.1 --authority server/authority.pem"; }
        add() { keychain token add "$1" $(endpoint) --client-id public < server/first; }
        # Whether the server takes a token.
        good() { curl -sS -o /dev/null -w '%{http_code}\\n' --cacert server/authority.pem \\
            --resolve api.example.test:$tls:127.0.0.1 -H "Authorization: Bearer $1" https://api.example.test:$tls/api; }
        asked() { /usr/bin/python3 -c "
        import collections, json
        try: lines = [json.loads(line) for line in open('server/tokens.jsonl')]
        except FileNotFoundError: lines = []
        print(sorted(collections.Counter(line['outcome'] for line in lines).items()))"; }
        """
    }

    private func lines(_ text: String) throws -> [String] {
        let outcome = try workplace.run(["/bin/sh", "-c", "cd \"$HOME\"\n" + Self.begin + "\n" + text])
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        // The list of logins has the ports.
        return outcome.text.split(separator: "\n").map { String($0).replacing(/\.test:\d+\t/, with: ".test\t") }
    }

    /// The lines of a script that has a daemon serve the vault.
    private static let daemon = """
        vault=$KEYCHAIN_HOME; unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
        keychaind --home "$vault" --entitlements "$HOME/none" --no-lock-signals --log error \\
            --socket "$KEYCHAIN_SOCKET" 2> daemon.log & daemon=$!
        trap 'kill $daemon 2> /dev/null; wait $daemon 2> /dev/null' EXIT
        until [ -S "$KEYCHAIN_SOCKET" ]; do kill -0 $daemon || exit 99; sleep 0.05; done
        """

    /// A token is taken from the server once, and from the vault until it is near its end.
    @Test func aTokenIsKept() throws {
        let text = try lines(
            """
            add work && keychain token list
            first=$(keychain token work); good $first
            [ "$first" = "$(keychain token work)" ] && echo same
            [ "$first" = "$(keychain token work --minimum 30m)" ] && echo same
            second=$(keychain token work --refresh); [ "$first" != "$second" ] && good $second
            asked
            settings '{"lifetime": 2}'; ended=$(keychain token work --refresh); until [ $(good $ended) = 401 ]; do sleep 0.1; done
            settings '{"lifetime": 100}'; third=$(keychain token work)
            [ "$third" != "$ended" ] && good $third
            [ "$third" = "$(keychain token work)" ] && echo same
            [ "$third" = "$(keychain token work --minimum 2m)" ] && echo same
            keychain token work --json | /usr/bin/python3 -c "
            import json, sys, time, datetime
            answer = json.load(sys.stdin)
            end = datetime.datetime.fromisoformat(answer['expires'].replace('Z', '+00:00')).timestamp()
            print(sorted(answer), len(answer['token'].split('.')), 0 < end - time.time() <= 100)"
            asked; keychain token list; keychain token info work | cut -d ' ' -f 1
            keychain audit --broker --json | /usr/bin/python3 -c "
            import json, sys
            for line in sys.stdin:
                line = json.loads(line)
                names = ['outcome', 'method', 'path', 'status', 'program', 'secrets']
                print(sorted((name, value) for name, value in line['request'].items() if name in names))" | sort | uniq -c
            """)
        #expect(
            text == [
                "work\tapi.example.test\tpublic\tnew", "200", "same", "same", "200", "[('granted', 2)]", "200", "same",
                "same", "['expires', 'token'] 3 True", "[('granted', 4)]", "work\tapi.example.test\tpublic\tworks",
                "login", "group", "endpoint", "address", "authorities", "client", "authentication", "state",
                "refreshed",
                "expires",
                "      4 [('method', 'POST'), ('outcome', 'placed'), ('path', '/token'), ('program', 'token'), "
                    + "('secrets', ['refresh token of work']), ('status', 200)]",
            ], "\(text)")
    }

    /// A person allows a log-in elsewhere, or does not.
    @Test func aPersonLogsIn() throws {
        let text = try lines(
            """
            log_in() {
                keychain token login "$1" $(endpoint) --device-endpoint "https://api.example.test:$tls/device" \\
                    --client-id public --scope read 2> err
                status=$?; sed "s/:[0-9][0-9]*//" err; echo $status
            }
            echo pending > server/answer
            (until [ "$(grep -c pending server/asked)" -ge 2 ]; do sleep 0.05; done; echo allowed > server/answer) &
            log_in work; keychain token list; good $(keychain token work)
            second=$(keychain token work --refresh); good $second; asked
            echo denied > server/answer; log_in other
            echo expired > server/answer; log_in other
            keychain token login other $(endpoint) --device-endpoint https://other.example.test/device --client-id public 2>&1
            keychain token login other $(endpoint) --device-endpoint "https://api.example.test:$tls/api" --client-id public 2>&1
            keychain token list | wc -l; cut -d ' ' -f 1,2 server/asked | uniq
            """)
        let place = [
            "keychain: open https://api.example.test/activate in a browser",
            "keychain: and type the code, or compare it: WDJB-MJHT",
        ]
        #expect(
            text == place + [
                "keychain: logged in: `keychain token work` prints an access token", "0",
                "work\tapi.example.test\tpublic\tworks", "200", "200", "[('granted', 1)]",
            ] + place + [
                "keychain: no login was stored: api.example.test says that the log-in was not allowed: access_denied",
                "51",
            ] + place + [
                "keychain: no login was stored: api.example.test says that nobody allowed the log-in in time: expired_token",
                "51",
                "keychain: --device-endpoint has to be at the server of --token-endpoint",
                "keychain: api.example.test refuses: invalid_token", "1",
                "public pending", "public allowed", "public denied", "public expired",
            ], "\(text)")
    }

    /// Many processes that ask at once make one request, with a vault of their own and through the daemon.
    @Test(arguments: [false, true])
    func manyAtOnce(throughDaemon: Bool) throws {
        let text = try lines(
            """
            add work; \(throughDaemon ? Self.daemon : "")
            for round in 1 2 3; do
                settings '{"lifetime": 2}'; ended=$(keychain token work --refresh)
                until [ $(good $ended) = 401 ]; do sleep 0.1; done
                settings '{"late": 0.5}'
                pids=; for n in $(seq 16); do keychain token work > token.$n 2> error.$n & pids="$pids $!"; done
                for pid in $pids; do wait $pid || { echo failed; cat error.*; }; done
                for n in $(seq 16); do cat token.$n; echo; done | sort -u | wc -l
                good $(cat token.7); asked
            done
            """)
        #expect(
            text == ["1", "200", "[('granted', 2)]", "1", "200", "[('granted', 4)]", "1", "200", "[('granted', 6)]"],
            "\(text)")
    }

    /// A request that fails is made once for all who wait for it.
    @Test func manyAtOnceWithoutAServer() throws {
        let text = try lines(
            """
            add work; settings '{"mode": "500", "before": 3}'
            pids=; for n in $(seq 8); do keychain token work > token.$n 2> error.$n & pids="$pids $!"; done
            for pid in $pids; do wait $pid; echo $?; done > statuses; sort statuses | uniq -c; cat error.* | sort -u | wc -l
            # A process that came later than the failure asks again.
            asked | grep -cE "'none', [1-8]"; settings '{}'; good $(keychain token work)
            """)
        #expect(text == ["      8 1", "1", "1", "200"], "\(text)")
    }

    /// Whatever a server answers, the login stays as it was.
    @Test func serversThatAnswerOtherThings() throws {
        let text = try lines(
            """
            add work
            for mode in 500 html garbage empty huge redirect repeat 'error invalid_client' 'error temporarily_unavailable' 'error invalid_grant'; do
                settings "{\\"mode\\": \\"$mode\\"}"; keychain token work 2>&1 | sed 's/at 20[-0-9T:Z]*/at TIME/'
            done; keychain token work > /dev/null 2>&1; echo $?
            settings '{}'; keychain token list; good $(keychain token work --refresh); keychain token list; asked
            cat "$HOME"/home/audit* 2> /dev/null | grep -cF "$(cat server/first)"; true
            """)
        let kept = ". The login is kept: try again later"
        let start = "keychain: the login 'work' got no access token: "
        let expected =
            [
                "api.example.test has a problem of its own: try again later: server_error" + kept,
                "api.example.test answers with the status 403" + kept,
                "api.example.test answers with something else than the JSON of RFC 6749" + kept,
                "api.example.test answers without an access token" + kept,
                "api.example.test: the body has more than 1048576 bytes" + kept,
                "api.example.test answers with a redirect, which a token request never follows: give the address of the "
                    + "token endpoint itself" + kept,
                "api.example.test refuses: invalid_request (what is ***************************************************)"
                    + kept,
                "api.example.test does not take the client's name or secret: invalid_client" + kept,
                "api.example.test has a problem of its own: try again later: temporarily_unavailable" + kept,
            ].map { start + $0 } + [
                start
                    + "api.example.test says that the login has ended: it expired, was taken back, or its token was used "
                    + "twice: invalid_grant; the answer to a refresh at TIME was not kept, and may have used the token "
                    + "up. Log in again, and store the new refresh token with `keychain token add`; `--refresh` asks the "
                    + "server once more", "51",
                "work\tapi.example.test\tpublic\tended", "200", "work\tapi.example.test\tpublic\tworks",
                "[('granted', 1), ('none', 10)]", "0",
            ]
        #expect(text == expected, "\(text.filter { !expected.contains($0) }) \(text)")
    }

    /// Processes are killed wherever they are. The login works at the end, and the server never saw a refresh token
    /// whose successor was used.
    @Test(arguments: [false, true])
    func killed(throughDaemon: Bool) throws {
        let count = TestScale.count(25, soak: 1_000)
        let text = try lines(
            """
            add work; settings '{"late": 0.02}'; \(throughDaemon ? Self.daemon : "")
            /usr/bin/python3 -B "$peers/login_kills.py" \(count) \(UInt32.random(in: 0...UInt32.max)) || exit 1
            good $(keychain token work --refresh); keychain token list; asked | grep -oE "reuse|ended|unknown"; true
            """)
        #expect(
            text.suffix(2) == ["200", "work\tapi.example.test\tpublic\tworks"] && text.count == 3, "\(text)")
    }

    /// An agent and an isolated program use a login, too.
    @Test func agentsAndIsolatedPrograms() throws {
        let text = try lines(
            """
            add work; export SECRET=nothing-of-this PORTS="{\\"tls\\": $tls, \\"other\\": $other, \\"plain\\": 1}"
            rule="TOKEN=keychain://oauth-login/work to https://api.example.test:$tls at 127.0.0.1"
            PYTHONPATH='\(Self.packages)' /usr/bin/python3 -B "$peers/mcp_client.py" ask log -- keychain mcp --broker "$rule" \
                --broker-authority server/authority.pem
            cat log log.err 2> /dev/null | grep -cFf server/issued
            mkdir project; cd project
            keychain run --isolated --others refuse --broker "$rule" --broker-authority ../server/authority.pem -- sh -c '
                curl -sS -o /dev/null -w "%{http_code}\\n" -H "Authorization: Bearer $TOKEN" https://api.example.test:'$tls'/api
                pgrep -c keychain; keychain token work > /dev/null 2>&1 || echo no token' 2> err || cat err
            cd ..; asked
            """)
        let asked = "asked | 200 | text | secrets: ['TOKEN'] | masked"
        #expect(text == [asked, asked, "0", "200", "0", "no token", "[('granted', 1)]"], "\(text)")
    }

    /// Programs with other rights wait for each other, too. Those without rights do nothing.
    @Test func programsWithOtherRights() throws {
        let text = try lines(
            """
            add work; mkdir new; for part in "" -broker; do cp "$(readlink -f "$(command -v keychain$part)")" new/; done
            printf '{"version": 1, "rules": [{"executable": "%s", "groups": ["keychain"]}]}' "$(readlink -f new/keychain)" > none
            chmod 600 none
            \(Self.daemon)
            settings '{"late": 0.5}'
            pids=; for n in $(seq 8); do
                keychain token work > token.$n & pids="$pids $!"
                new/keychain token work --group keychain > token.1$n & pids="$pids $!"
            done
            for pid in $pids; do wait $pid || echo failed; done
            for n in token.*; do cat $n; echo; done | sort -u | wc -l; ls token.* | wc -l; good $(cat token.11); asked
            cp -r new other; other/keychain token work --group keychain --refresh 2> /dev/null || echo refused
            asked
            """)
        #expect(text == ["1", "16", "200", "[('granted', 1)]", "refused", "[('granted', 1)]"], "\(text)")
    }

    /// A passcode is given once, for the command and the process that refreshes.
    @Test func thePasscodeIsGivenOnce() throws {
        let text = try lines(
            """
            add work; printf plain | keychain set other item --accessible when-unlocked; printf code > code
            keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3< code 2> /dev/null
            good $(keychain token work --passcode-fd 3 3< code); keychain token work 2> /dev/null; echo $?
            keychain run --passcode-fd 3 --env T=keychain://oauth-login/work --env O=keychain://other/item -- \\
                sh -c 'echo $O $T' 3< code > both
            [ "$(cut -d ' ' -f 1 both)" = plain ] && good $(cut -d ' ' -f 2 both); asked
            """)
        #expect(text == ["200", "36", "200", "[('granted', 1)]"], "\(text)")
    }

    /// The commands for passwords leave logins alone.
    @Test func aLoginIsNoPassword() throws {
        let text = try lines(
            """
            add work; add help 2> /dev/null || echo no name
            for command in 'delete oauth-login work' 'change oauth-login work --label x' 'set oauth-login work'; do
                printf x | keychain $command 2>&1 | grep -c "is a login of OAuth"
            done
            keychain token remove work --yes; keychain token list; keychain token work 2>&1; true
            """)
        #expect(
            text == [
                "no name", "1", "1", "1",
                "keychain: there is no login 'work': `keychain token list` shows those that are there, and "
                    + "`keychain token add` stores one",
            ], "\(text)")
    }

    /// An item that others wrote, the beginning of whose value is that of a login.
    private static let stored = #"""
        stored() {
            printf '{"version":%s,"endpoint":"https://api.example.test:%s/token","address":"127.0.0.1","authorities":%s,' \
                "$2" $tls "$(/usr/bin/python3 -c 'import json; print(json.dumps(open("server/authority.pem").read()))')" > value
            printf '"client":"public","authentication":"none","refresh_token":"%s",%s}' "$(cat server/first)" "$3" >> value
            keychain set oauth-login "$1" < value
        }
        """#

    /// Numbers that cannot be counted on lose no refresh token, and end no process by accident.
    @Test func numbersThatNoLoginHas() throws {
        let text = try lines(
            """
            \(Self.stored)
            stored max 1 '"attempt":9007199254740991'; keychain token max 2>&1 | grep -o "more attempts than can be counted"; asked
            stored past 1 '"attempt":1,"access":{"token":"AAAAAAAA","attempt":1,"issued":-9223372036854775808,"lifetime":5}'
            stored end 1 '"attempt":1,"access":{"token":"AAAAAAAA","attempt":1,"issued":1796074000,"lifetime":9223372036854775807}'
            stored ahead 1 '"attempt":1,"access":{"token":"AAAAAAAA","attempt":2,"issued":1796074000,"lifetime":5}'
            for name in past end ahead; do
                keychain token $name 2>&1 | grep -o "is no login that this program knows"
                keychain run --env T=keychain://oauth-login/$name -- true 2>&1 | grep -o "is no login that this program knows"
            done
            add max; good $(keychain token max); asked; keychain token list
            """)
        let refused = "is no login that this program knows"
        #expect(
            text == ["more attempts than can be counted", "[]"] + Array(repeating: refused, count: 6) + [
                "200", "[('granted', 1)]", "ahead\t\t\tdamaged", "end\t\t\tdamaged",
                "max\tapi.example.test\tpublic\tworks", "past\t\t\tdamaged",
            ], "\(text)")
    }

    /// An item that is no login hides none.
    @Test func aDamagedLoginHidesNoOther() throws {
        let text = try lines(
            """
            \(Self.stored)
            add work; printf nope | keychain set oauth-login broken; stored later 2 '"attempt":0'
            keychain token list; echo $?
            keychain token list --json | /usr/bin/python3 -c "
            import json, sys
            for login in json.load(sys.stdin): print(login['name'], login.get('problem'), login.get('client'), login['ended'])"
            keychain token remove broken --yes; add later; keychain token list
            """)
        #expect(
            text == [
                "broken\t\t\tdamaged", "later\t\t\tlater version", "work\tapi.example.test\tpublic\tnew", "0",
                "broken damaged None False", "later later version None False", "work None public False",
                "later\tapi.example.test\tpublic\tnew", "work\tapi.example.test\tpublic\tnew",
            ], "\(text)")
    }

    /// A login that is removed or replaced while the server answers ends the refresh at once.
    @Test func aLoginIsRemovedDuringARefresh() throws {
        let text = try lines(
            """
            add work
            settings '{"held": true}'; keychain token work 2> err & until [ -s server/tokens.jsonl ]; do sleep 0.05; done
            keychain token remove work --yes; settings '{}'; wait $!; echo $?; cat err; keychain token list
            """)
        #expect(
            text.dropFirst() == [
                "keychain: the login 'work' was removed while it was refreshed: what its server answered is not kept"
            ] && text.first != "0", "\(text)")
    }

    /// A refresh token that cannot be kept is told, and not taken for none.
    @Test func aRefreshTokenThatCannotBeKept() throws {
        let text = try lines(
            """
            add work; settings '{"mode": "odd"}'; good $(keychain token work 2> err); grep -o "that cannot be kept" err
            keychain token info work | grep -oE "failed|that cannot be kept|^unanswered"
            [ "$(keychain token work)" = "$(keychain token work)" ] && settings '{}'; good $(keychain token work --refresh)
            keychain token list; keychain token info work | grep -E "^(failure|unanswered)"; asked
            settings '{"mode": "created"}'; good $(keychain token work --refresh); asked
            keychain get oauth-login work | grep -cF "$(tail -n 1 server/issued)"
            """)
        #expect(
            text == [
                "200", "that cannot be kept", "failed", "that cannot be kept", "unanswered", "200",
                "work\tapi.example.test\tpublic\tworks", "[('granted', 2)]", "200", "[('granted', 3)]", "1",
            ], "\(text)")
    }

    /// A program has a placeholder, and its requests have tokens that are good: also after one ended, and after the
    /// server took one back.
    @Test(arguments: ["jwt", "opaque"])
    func aProgramUsesALogin(_ format: String) throws {
        let text = try lines(
            """
            add work; settings '{"format": "\(format)", "lifetime": 4}'
            cat > program.py <<'END'
            import base64, json, os, subprocess, sys, time
            token, port = os.environ["T"], sys.argv[1]
            parts = token.split(".")
            if "\(format)" == "jwt":
                def read(part): return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
                print(len(parts), read(parts[0]), sorted(read(parts[1])), read(parts[1])["exp"] > time.time())
            else: print(token[:5], len(token))
            def ask(path="/echo", *words):
                return subprocess.run(["curl", "-sS", "-w", "\\n%{http_code}", "-H", "Authorization: Bearer " + token, *words,
                    f"https://api.example.test:{port}{path}"], capture_output=True, text=True).stdout.split("\\n")
            end = time.monotonic() + 9
            while time.monotonic() < end:
                body, code = ask()
                if code != "200": print(code, body)
                if set(json.loads(body)["token"]) != {"*"}: print("not masked")
                time.sleep(0.2)
            print(ask("/api", "-d", "a=b")[1])
            def settings(text):
                open("server/new", "w").write(text); os.rename("server/new", "server/settings")
            settings('{"refuses": true, "format": "\(format)"}')
            print(ask()[1])
            settings('{"format": "\(format)"}')
            print(ask()[1])
            sys.stdout.flush()
            print("kept", os.getpid(), flush=True)
            while not os.path.exists("stop"): time.sleep(0.05)
            END
            keychain run --broker "T=keychain://oauth-login/work to https://api.example.test:$tls at 127.0.0.1" \\
                --broker-authority server/authority.pem -- /usr/bin/python3 -B program.py $tls > out 2> err &
            until grep -qs kept out || ! kill -0 $!; do sleep 0.05; done
            program=$(sed -n 's/kept //p' out); cp server/issued issued; number=$(wc -l < issued)
            for token in $(cat issued); do
                printf %s "$token" > canary
                /usr/bin/python3 -B "$peers/memory_search.py" $program canary | cut -d ' ' -f 1-2
                grep -lF "$token" /proc/[0-9]*/cmdline out err 2> /dev/null
                grep -rlF "$token" run home 2> /dev/null
                tr '\\0' '\\n' < /proc/$program/environ | grep -cF "$token"
            done | sort | uniq -c | sed 's/^ *//' | sed "s/^$number /all /"
            touch stop; wait $!; sed 's/kept.*/end/' out; cat err
            asked | grep -oE "reuse|ended|unknown"; [ $number -gt 4 ] && echo many
            """)
        let shape =
            format == "jwt"
            ? "3 {'alg': 'RS256', 'typ': 'JWT'} ['exp', 'iat', 'jti', 'sub'] True" : "ya29. 59"
        #expect(
            text == ["all 0", "all nothing in", shape, "200", "401", "200", "end", "many"], "\(text)")
    }
}
#endif
