#if HTTPClientSupport
import Foundation
import TestSupport
import Testing

/// `keychain run --broker` with real programs, a real server, and programs that want more than they may have.
@Suite struct BrokerRunTests {
    private let workplace: Workplace
    private static let secret = "ghp_SECRETsecret0123456789abcdefABCDEFxy"

    init() throws { workplace = try Workplace() }

    private static var peers: String { URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer" }

    /// The beginning of each script: a server, an item, and what runs a program under the broker.
    private var begin: String {
        """
        peers='\(Self.peers)'; mkdir server run; chmod 700 run; mkfifo in; export XDG_RUNTIME_DIR=$HOME/run
        printf %s '\(Self.secret)' > secret
        SECRET='\(Self.secret)' /usr/bin/python3 -B "$peers/broker_server.py" server < in > ports 2> server.log & exec 9> in
        until [ -s ports ]; do sleep 0.05; done
        port() { /usr/bin/python3 -c "import json; print(json.load(open('ports'))['$1'])"; }
        tls=$(port tls) other=$(port other) plain=$(port plain)
        export KEYCHAIN_AUDIT=1 PORTS="$(cat ports)"
        keychain set api token < secret || exit 1
        brokered() {
            words=$1; shift
            keychain run --broker "TOKEN=keychain://api/token to https://api.example.test:$tls$words" \\
                --broker-authority server/authority.pem -- "$@"
        }
        arrived() { /usr/bin/python3 -c "
        import json, sys
        for line in open('server/requests.jsonl'):
            request = json.loads(line)
            if '\(Self.secret)' in line or '\(Data("alice:\(Self.secret)".utf8).base64EncodedString())' in line:
                print(request['port'], request['method'], request['target'].split('?')[0])
        " | sort | uniq -c | sed 's/^ *//'; }
        """
    }

    private func script(_ text: String) throws -> ProgramOutcome {
        try workplace.run(["/bin/sh", "-c", "cd \"$HOME\"\n" + begin + "\n" + text])
    }

    private func lines(_ text: String) throws -> [String] {
        let outcome = try script(text)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    /// Each client is let in, and the secret is neither in the memory of a program that keeps all that it gets, nor in
    /// its environment, its arguments or its files.
    @Test func programsUseWhatTheyDoNotHave() throws {
        let text = try lines(
            """
            brokered ' at 127.0.0.1' /usr/bin/python3 -B "$peers/broker_clients.py" api.example.test:$tls stop > out 2> err &
            until grep -qs kept out || ! kill -0 $!; do sleep 0.05; done
            /usr/bin/python3 -B "$peers/memory_search.py" $(sed -n 's/kept //p' out) secret | cut -d ' ' -f 1-2 || exit 1
            grep -rlF "$(cat secret)" run /proc/$(sed -n 's/kept //p' out)/cwd/server/git 2> /dev/null
            touch stop; wait $!; cat err; sed 's/kept.*/end/' out; ls run
            keychain audit --broker --json | grep -cF "$(cat secret)"
            keychain audit --broker --json | /usr/bin/python3 -c "
            import json, sys
            lines = [json.loads(line)['request'] for line in sys.stdin]
            print(len(lines), {line['outcome'] for line in lines}, {line['status'] for line in lines}, lines[0]['secrets'])"
            """)
        #expect(
            text == [
                "nothing in", "with_urllib was let in", "with_requests was let in", "with_httpx was let in",
                "with_curl was let in", "end", "0", "52 {'placed'} {200} ['TOKEN']",
            ], "\(text)")
    }

    /// The same with Swift's URLSession, and with AsyncHTTPClient, which read authorities from the system's file alone.
    @Test func swiftUsesWhatItDoesNotHave() throws {
        let client = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "WebClientWorker")
            .path
        let text = try lines(
            """
            mkdir project; cd project
            keychain run --isolated --broker "TOKEN=keychain://api/token to https://api.example.test:$tls at 127.0.0.1" \\
                --broker-authority ../server/authority.pem -- '\(client)' api.example.test:$tls stop > ../out 2> ../err &
            until grep -qs kept ../out || ! kill -0 $!; do sleep 0.05; done
            /usr/bin/python3 -B "$peers/memory_search.py" $(pgrep -x WebClientWorker) ../secret | cut -d ' ' -f 1-2 ||
                { cat ../out ../err; exit 1; }
            touch stop; wait $!; cat ../err; sed 's/kept.*/end/' ../out
            """)
        #expect(text == ["nothing in", "URLSession was let in", "AsyncHTTPClient was let in", "end"], "\(text)")
    }

    /// git clones and pushes with a password that it does not have.
    @Test func git() throws {
        let text = try lines(
            """
            brokered ' at 127.0.0.1' sh -c '
                url=https://alice:$TOKEN@api.example.test:'$tls'/git/repo.git
                git clone -q $url copy && cd copy && git config user.name A && git config user.email a@example.com &&
                echo more > more && git add more && git commit -qm more && git push -q origin HEAD && echo pushed'
            git -C server/git/repo.git log --format=%s | head -1
            grep -rlF "$(cat secret)" copy; true
            """)
        #expect(text == ["pushed", "more"], "\(text)")
    }

    /// The secret arrives where the rule says, and nowhere else, whatever a program tries.
    @Test func otherServersGetThePlaceholder() throws {
        let outcome = try script(
            """
            brokered '/allowed/* at 127.0.0.1' /usr/bin/python3 -B "$peers/broker_attack.py" all > out 2> err
            brokered '/allowed/* at 127.0.0.1' curl -sS -o /dev/null -H 'Host: other.example.test' \\
                -H 'Authorization: Bearer x' https://api.example.test:$tls/allowed/last 2>> err
            arrived; echo; cat out
            keychain audit --broker --json | grep -cF "$(cat secret)"
            """)
        let parts = outcome.text.split(separator: "\n\n", maxSplits: 1).map(String.init)
        let arrived = parts.first?.split(separator: "\n") ?? []
        #expect(!arrived.isEmpty, "\(outcome.text)\(outcome.errors)")
        for line in arrived {
            #expect(line.contains(" tls ") && line.contains(" /allowed/"), "\(line)")
            #expect(!line.contains("smuggled"), "\(line)")
        }
        #expect(outcome.text.hasSuffix("\n0\n"), "\(outcome.text.suffix(300))")
    }

    /// A certificate for the address that is dialled is no certificate for the name.
    @Test func theCertificateNamesTheHost() throws {
        let text = try lines(
            """
            keychain run --broker "TOKEN=keychain://api/token to https://elsewhere.example.test:$tls at 127.0.0.1" \\
                --broker-authority server/authority.pem -- sh -c '
                curl -sS -H "Authorization: Bearer $TOKEN" https://elsewhere.example.test:'$tls'/echo' 2> /dev/null
            arrived
            """)
        #expect(text == ["keychain: the certificate of the server does not name elsewhere.example.test"], "\(text)")
    }

    /// Over HTTP/2 and over HTTP/1.1.
    @Test func statusesThatAreNone() throws {
        let text = try lines(
            """
            export ask='curl -sS -m 20 -o /dev/null -w %{http_code}_'
            for port in $tls $other; do
                brokered " at 127.0.0.1 to https://api.example.test:$other at 127.0.0.1" sh -c '
                    for code in 99 0 -1 101 1000 70000; do
                        $ask "https://api.example.test:'$port'/redirect?status=$code"
                        $ask https://api.example.test:'$port'/echo
                    done' 2> err; echo; grep 'keychain-broker ended' err
            done; true
            """)
        #expect(text == Array(repeating: String(repeating: "502_200_", count: 6), count: 2), "\(text)")
    }

    /// What is random is answered or ends, and honest requests between it are served.
    @Test func anyRequestIsAnswered() throws {
        let count = TestScale.count(200, soak: 1_000_000)
        let text = try lines(
            """
            brokered ' at 127.0.0.1' /usr/bin/python3 -B "$peers/broker_attack.py" fuzz \(count) \
                \(UInt32.random(in: 0...UInt32.max)) > out 2> err || { cat out err; exit 1; }
            arrived | cut -d ' ' -f 2 | sort -u
            """)
        #expect(text == ["tls"], "\(text)")
    }

    @Test func manyConnections() throws {
        let count = TestScale.count(150, soak: 500)
        let text = try lines(
            """
            brokered ' at 127.0.0.1' /usr/bin/python3 -B "$peers/broker_attack.py" many \(count) > out 2> err; tail -1 out
            """)
        #expect(text.last?.contains("\(count)") == true, "\(text)")
    }

    /// A long download and a long upload pass through, in memory that does not grow.
    @Test func longBodies() throws {
        let size = TestScale.count(16 << 20, soak: 4 << 30)
        let text = try lines(
            """
            brokered ' at 127.0.0.1' sh -c '
                curl -sS -H "Authorization: Bearer $TOKEN" "https://api.example.test:'$tls'/big?size=\(size)" | wc -c
                head -c \(size) /dev/zero | curl -sS -T - -H "Authorization: Bearer $TOKEN" \\
                    https://api.example.test:'$tls'/upload | grep -o \(size)
                broker=$(pgrep -x keychain-broker -P $PPID)
                sed -n "s/VmHWM:[^0-9]*\\([0-9]*\\) kB/\\1/p" /proc/$broker/status'
            """)
        #expect(text.prefix(2) == ["\(size)", "\(size)"], "\(text)")
        let most = text.last.flatMap { Int($0) } ?? .max
        #expect(most < 160 << 10, "\(most) KiB")
    }

    /// A WebSocket gets secrets in its request, and in its messages if the rule says so. What the server echoes is
    /// masked.
    @Test func webSockets() throws {
        let text = try lines(
            """
            tls=$other
            for places in authorization authorization,websocket; do
                brokered "/ws at 127.0.0.1 in $places" /usr/bin/python3 -B "$peers/broker_websocket.py" \\
                    api.example.test:$other /ws 2> err || { cat err server.log; exit 1; }
                grep -cF "$(cat secret)" server/frames.jsonl
            done
            brokered "/ws at 127.0.0.1" /usr/bin/python3 -B "$peers/broker_websocket.py" api.example.test:$other /echo 2> err
            brokered "/ws at 127.0.0.1 in websocket times 1" /usr/bin/python3 -B "$peers/broker_websocket.py" \\
                api.example.test:$other /ws 2> err
            keychain audit --broker --json | /usr/bin/python3 -c "
            import json, sys
            lines = [json.loads(line)['request'] for line in sys.stdin]
            for line in lines: print(line['outcome'], line['path'], line.get('status'))" | sort | uniq -c | sed 's/^ *//'
            """)
        let rest = ["binary True", "big True", "pong still here?", "text a-b-c", "closed 1000"]
        let begin = ["protocol chat", "hello"]
        #expect(
            text == begin + [
                "the placeholder", #"{"op": 2, "token": "the placeholder"}"#, "beside the placeholder",
            ] + rest + ["0"] + begin + [
                "a mask", #"{"op": 2, "token": "a mask"}"#, "beside the placeholder",
            ] + rest + ["2", "refused with 200"] + begin + [
                "a mask", "closed 1008 keychain: the rule does not let the secret out", "5 placed /ws 101",
                "1 refused /ws None", "1 stray /echo 200", "1 stray /ws 101",
            ], "\(text)")
    }

    /// Amazon's client signs with a key that is none, and each request arrives with the signature of the real one. What
    /// was signed for another time, or is not what was signed, gets none.
    @Test func requestsAreSignedAnew() throws {
        let packages = Repository.file(".build/test-vectors").path
        let text = try lines(
            """
            printf %s AKIAREALREALREALREAL > id; keychain set aws id < id
            export PYTHONPATH='\(packages)' SECRET="$(cat secret)" AWS_EC2_METADATA_DISABLED=true
            signed() {
                env -u SECRET keychain run --broker "AWS_SECRET_ACCESS_KEY=keychain://api/token $place" "$@" \
                    --broker-authority server/authority.pem -- /usr/bin/python3 -B "$peers/aws_peer.py" ask api.example.test:$tls
            }
            place="to https://api.example.test:$tls at 127.0.0.1 in aws"
            signed --broker "AWS_ACCESS_KEY_ID=keychain://aws/id $place-id" 2> err | sed 's/at 2[0-9]*T[0-9]*Z/at TIME/'
            AWS_ACCESS_KEY_ID=$(cat id) signed 2> err > out || cat err out
            /usr/bin/python3 -B "$peers/aws_peer.py" check server/requests.jsonl $(cat id) > checked || cat server.log
            grep -v other checked | sort | uniq -c | sed 's/^ *//'; grep other checked
            # What is read beside the path has to be covered, too.
            copy() {
                AWS_ACCESS_KEY_ID=$(cat id) keychain run --broker "AWS_SECRET_ACCESS_KEY=keychain://api/token to \\
                    https://$1 at 127.0.0.1 in aws" --broker-authority server/authority.pem -- \\
                    env -u SECRET /usr/bin/python3 -B "$peers/aws_peer.py" copy $2 $3 2> err || cat err
            }
            copy s3.example.test:$tls/b/* s3.example.test:$tls path
            copy bucket.s3.example.test:$tls s3.example.test:$tls virtual
            copy api.example.test:$tls api.example.test:$tls path
            # The program writes the placeholder of its key in the place of an identifier.
            keychain run --broker "KEY=keychain://api/token $place" --broker-authority server/authority.pem -- sh -c '
                curl -sS -o /dev/null -H "Authorization: AWS4-HMAC-SHA256 Credential=$KEY/20261130/r/s3/aws4_request, \\
                    SignedHeaders=host, Signature=0" https://api.example.test:'$tls'/' 2> err || cat err
            grep -c "$(cat secret)" server/requests.jsonl
            keychain audit --broker --json | /usr/bin/python3 -c "
            import json, sys
            lines = [json.loads(line)['request'] for line in sys.stdin]
            print(*[line['outcome'] for line in lines][:11], *lines[0]['secrets'])"
            """)
        let refused = [
            "masked True",
            "late 403 keychain: the request was signed at TIME, which is more than 15 minutes from now: look at the clock",
            "changed 200",
            "STREAMING-AWS4-HMAC-SHA256-PAYLOAD 403 keychain: each part of the body is signed on its own, which is not "
                + "supported: have the client sign the body as a whole, or not at all",
        ]
        let signed = [
            "GET s3 True True 1 for True", "GET s3 True True 3", "GET s3 True True 4", "POST dynamodb True True 4",
            "POST lambda True True 2", "POST sts True True 3", "PUT s3 True True 3", "PUT s3 True True 8",
        ]
        let outcomes = Array(repeating: "placed", count: 8) + ["refused", "placed", "refused"]
        #expect(
            text == refused + signed.map { "2 \($0)" } + ["PUT other True False 2", "PUT other True False 2"]
                + [
                    "path b/one sent, other/one refused, b/b/one sent, public/b/one refused",
                    "virtual bucket/one sent, other/one refused, bucket/b/one sent, public/bucket/one refused",
                    "path b/one refused, other/one refused, b/b/one refused, public/b/one refused", "0",
                ]
                + [outcomes.joined(separator: " ") + " AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID"],
            "\(text.joined(separator: "\n"))")
    }

    /// Frames that come with the request, and requests that are none for a WebSocket.
    @Test func webSocketsOfAttackers() throws {
        let text = try lines(
            """
            tls=$other
            brokered " at 127.0.0.1 in authorization" /usr/bin/python3 -B "$peers/broker_websocket.py" \\
                api.example.test:$other /ws raw 2> err || cat err >&2
            grep -c "keychain-broker ended" err; true
            """)
        let begun = "HTTP/1.1 101 Switching Protocols"
        #expect(
            text == [
                begun, "8a \(begun)", "81 \(begun)", "8a \(begun)", "88 \(begun)", "HTTP/1.1 400 Bad Request",
                "HTTP/1.1 400 Bad Request", "HTTP/1.1 502 Bad Gateway", begun, "0",
            ], "\(text)")
    }

    /// Servers that no rule names, as `--others` says; and headers by which a server takes another method or path.
    @Test func others() throws {
        let text = try lines(
            """
            others() {
                words=$1; shift
                keychain run --broker "TOKEN=keychain://api/token to https://api.example.test:$tls at 127.0.0.1" \\
                    --broker-authority server/authority.pem --others $words -- "$@" 2> err
            }
            others refuse sh -c 'curl -sS -o /dev/null -w "%{http_connect}\n" https://api.example.test:'$other'/echo 2> /dev/null
                curl -sS -o /dev/null -w "%{http_code}\n" http://api.example.test:'$plain'/echo'
            # Servers of this machine need a rule.
            others tunnel curl -sS -o /dev/null -w '%{http_connect}\n' https://localhost:$other/echo 2> /dev/null
            others inspect curl -sS -o /dev/null -w '%{http_code}\n' -H "X-HTTP-Method-Override: DELETE" \\
                -H "X-Original-URL: /admin" -H "X-Forwarded-Host: evil" -H "X-Kept: yes" https://api.example.test:$tls/echo
            tail -1 server/requests.jsonl | grep -io 'x-[a-z-]*'
            keychain audit --broker --json | /usr/bin/python3 -c "
            import json, sys
            for line in sys.stdin:
                request = json.loads(line)['request']
                print(request['outcome'], request['host'], request.get('reason', '').split(',')[0])"
            """)
        #expect(
            text == [
                "403", "403", "502", "200", "x-kept", "refused api.example.test no rule names api.example.test",
                "refused api.example.test no rule names api.example.test", "refused localhost 127.0.0.1",
                "passed api.example.test ",
            ], "\(text)")
    }

    /// Who does not show the password is let go: after a while, and at once when there are too many.
    @Test func strangers() throws {
        let text = try lines(
            """
            brokered ' at 127.0.0.1' /usr/bin/python3 -c "
            import os, select, socket, time, urllib.parse
            port = urllib.parse.urlsplit(os.environ['HTTPS_PROXY']).port
            begin = time.monotonic()
            first = socket.create_connection(('127.0.0.1', port))
            many = [socket.create_connection(('127.0.0.1', port)) for _ in range(300)]
            def is_over(one, seconds):
                one.settimeout(seconds)
                try: return one.recv(1) == b''
                except TimeoutError: return False
            print(is_over(first, 5), is_over(many[-1], 0.5), is_over(many[-1], 30), 8 < time.monotonic() - begin < 25)
            " 2> err || cat err
            """)
        #expect(text == ["True False True True"], "\(text)")
    }

    /// Another user of the machine is not spoken with, whatever they know.
    @Test(.enabled(if: geteuid() == 0, "only root can be another user")) func otherUsers() throws {
        let text = try lines(
            """
            cat > ask.py << 'END'
            import os, socket, sys, urllib.parse
            proxy = urllib.parse.urlsplit(os.environ['HTTPS_PROXY'])
            if sys.argv[1] == 'other': os.setgroups([]); os.setgid(65534); os.setuid(65534)
            with socket.create_connection(('127.0.0.1', proxy.port), 20, (sys.argv[2], 0)) as one:
                try:
                    one.sendall(b'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
                    print(one.recv(12).decode() or 'closed')
                except ConnectionError: print('closed')
            END
            brokered ' at 127.0.0.1' sh -c 'for user in other same other; do for place in 127.0.0.1 127.0.0.2; do /usr/bin/python3 -B ask.py $user $place; done; done' 2> err || cat err
            """)
        let (closed, answered) = (Array(repeating: "closed", count: 2), Array(repeating: "HTTP/1.1 407", count: 2))
        #expect(text == closed + answered + closed, "\(text)")
    }

    /// A password is the right one in each of its characters.
    @Test func passwordsThatAreAlmostRight() throws {
        let text = try lines(
            """
            brokered ' at 127.0.0.1' /usr/bin/python3 -c "
            import base64, collections, os, socket, urllib.parse
            proxy = urllib.parse.urlsplit(os.environ['HTTPS_PROXY'])
            def status(password, scheme='Basic'):
                with socket.create_connection(('127.0.0.1', proxy.port)) as connection:
                    pair = base64.b64encode(f'keychain:{password}'.encode()).decode()
                    connection.sendall(f'CONNECT api.example.test:$tls HTTP/1.1\\r\\nHost: api.example.test:$tls\\r\\n'
                                       f'Proxy-Authorization: {scheme} {pair}\\r\\n\\r\\n'.encode())
                    return connection.recv(100)[9:12].decode()
            right = proxy.password
            wrong = [right[:n] + other + right[n + 1:] for n in range(len(right)) for other in 'AZaz09_-' if other != right[n]]
            print(status(right), status(right, 'bAsIc'), collections.Counter(map(status, wrong + ['', right + 'A', right[:-1]])).keys())
            " 2> err || cat err
            """)
        #expect(text == ["200 200 dict_keys(['407'])"], "\(text)")
    }

    /// Rules end: by count, time and method. What they do not let out is refused or goes as the placeholder.
    @Test func narrowRules() throws {
        let text = try lines(
            """
            export ask='curl -sS -o /dev/null -w %{http_code}_'
            brokered ' at 127.0.0.1 in header:x-api-key methods GET times 2' sh -c '
                for n in 1 2 3; do $ask -H "X-Api-Key: $TOKEN" https://api.example.test:'$tls'/echo; done
                $ask -X POST -H "X-Api-Key: $TOKEN" https://api.example.test:'$tls'/echo' 2> err; echo
            sed 's/, port [0-9]*//' err
            brokered ' at 127.0.0.1 until 1s' sh -c 'sleep 1.1
                $ask -H "Authorization: Bearer $TOKEN" https://api.example.test:'$tls'/echo' 2> err; echo
            sed 's/, port [0-9]*//' err
            brokered ' at 127.0.0.1 in query,form,json' sh -c '
                curl -sS https://api.example.test:'$tls'/echo?key=$TOKEN -o /dev/null
                curl -sS -d token=$TOKEN https://api.example.test:'$tls'/echo -o /dev/null
                curl -sS --json "{\\"t\\":\\"$TOKEN\\"}" https://api.example.test:'$tls'/echo -o /dev/null'
            arrived
            """)
        #expect(
            text == [
                "200_200_403_200_",
                "keychain: GET to api.example.test: the rule for TOKEN has 'times 2', which is used up",
                "keychain: TOKEN: POST to api.example.test: the rule for TOKEN is for GET alone",
                "200_",
                "keychain: TOKEN: GET to api.example.test: the rule for TOKEN has ended",
                "3 tls GET /echo", "2 tls POST /echo",
            ], "\(text)")
    }

    /// A person is asked where the rule says so. Without a passcode, and without a person, nothing goes out.
    @Test func nobodyIsThereToAsk() throws {
        let text = try lines(
            """
            brokered ' at 127.0.0.1 ask' true 2>&1
            printf 'pass code' | keychain passcode set --new-passcode-fd 0 > /dev/null || exit 1
            vault=$KEYCHAIN_HOME; unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
            keychaind --home "$vault" --entitlements "$HOME/none" --no-lock-signals --log error \
                --socket "$KEYCHAIN_SOCKET" 2> daemon.log & daemon=$!
            trap 'kill $daemon 2> /dev/null; wait $daemon 2> /dev/null' EXIT
            until [ -S "$KEYCHAIN_SOCKET" ]; do kill -0 $daemon || exit 99; sleep 0.05; done
            printf 'pass code' | keychain unlock --passcode-fd 0 > /dev/null || exit 98
            brokered ' at 127.0.0.1 ask' sh -c 'for n in 1 2; do
                curl -sS -H "Authorization: Bearer $TOKEN" https://api.example.test:'$tls'/echo; done' 2> /dev/null
            arrived
            """)
        let refusal = "keychain: nobody allowed the use of TOKEN, which is refused from now on"
        #expect(
            text == [
                "keychain: a rule says 'ask', which needs a passcode for the vault: set one with `keychain passcode set`",
                refusal, refusal,
            ], "\(text)")
    }

    /// Clear text goes to a server whose rule has `http://`.
    @Test func clearText() throws {
        let text = try lines(
            """
            keychain run --broker "TOKEN=keychain://api/token to http://api.example.test:$plain at 127.0.0.1" -- sh -c '
                curl -sS -o /dev/null -w "%{http_code}_" -H "Authorization: Bearer $TOKEN" \\
                    http://api.example.test:'$plain'/echo'; echo
            arrived
            """)
        #expect(text == ["200_", "1 plain GET /echo"], "\(text)")
    }

    /// When one of the three processes is killed, no certificate and no broker of the run stays.
    @Test(arguments: ["keychain", "broker", "program"])
    func killed(_ victim: String) throws {
        let text = try lines(
            """
            brokered ' at 127.0.0.1' sh -c '
                dirname "$SSL_CERT_FILE" > place; ls "$(cat place)"; echo $$ > program; exec sleep 100' & shell=$!
            until [ -s program ]; do sleep 0.05; done
            run=$(ps -o ppid= -p $(cat program))
            broker=$(pgrep -P $run -x keychain-broker)
            [ -n "$broker" ] || echo no broker
            case \(victim) in
                keychain) kill -9 $run; kill $(cat program);;
                broker) kill -9 $broker; sleep 0.2; kill $(cat program);;
                program) kill -9 $(cat program);;
            esac
            wait $shell 2> /dev/null
            for n in $(seq 100); do kill -0 $broker 2> /dev/null || break; sleep 0.05; done
            kill -0 $broker 2> /dev/null && echo broker stays
            ls "$(cat place)" 2> /dev/null; ls run
            """)
        #expect(text == ["certificates.pem"], "\(text)")
    }
}
#endif
