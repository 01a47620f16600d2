#if HTTPClientSupport
import Foundation
import TestSupport
import Testing

/// `keychain mcp` with the official client of the protocol, a real server, and hosts that send what they like.
@Suite struct McpTests {
    private let workplace: Workplace
    private static let secret = "ghp_SECRETsecret0123456789abcdefABCDEFxy"

    init() throws { workplace = try Workplace() }

    private static var peers: String { URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer" }
    /// Where `Scripts/install/setup.sh --tests` puts the client that `Tests/Support/Vectors/test-vectors.txt` names.
    private static let packages = Repository.file(".build/test-vectors").path

    /// The beginning of each script: a server, an item, and what plays an agent. Each call of `agent` ends with the
    /// number of lines with the secret in what the server wrote.
    private var begin: String {
        """
        peers='\(Self.peers)'; mkdir server run; chmod 700 run; mkfifo in; export XDG_RUNTIME_DIR=$HOME/run
        printf %s '\(Self.secret)' > secret; export SECRET='\(Self.secret)' PYTHONPATH='\(Self.packages)'
        /usr/bin/python3 -B "$peers/broker_server.py" server < in > ports 2> server.log & exec 9> in
        until [ -s ports ]; do sleep 0.05; done
        port() { /usr/bin/python3 -c "import json; print(json.load(open('ports'))['$1'])"; }
        tls=$(port tls) other=$(port other) plain=$(port plain)
        export KEYCHAIN_AUDIT=1 PORTS="$(cat ports)"
        keychain set api token < secret || exit 1
        server="https://api.example.test:$tls at 127.0.0.1"
        agent() {
            task=$1; shift
            /usr/bin/python3 -B "$peers/mcp_client.py" $task log -- keychain mcp "$@" || return 1
            cat log log.err 2> /dev/null | grep -cF "$SECRET"; true
        }
        client() { agent "$@" --broker-authority server/authority.pem; }
        """
    }

    private func lines(_ text: String) throws -> [String] {
        let outcome = try workplace.run(["/bin/sh", "-c", "cd \"$HOME\"\n" + begin + "\n" + text])
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    private static let echoes =
        ["echo", "headers", "bytes", "chunks", "gzip", "deflate", "base64", "hex", "percent", "json", "sse"]
        + ["basic", "key", "query", "path", "body", "form"]

    /// The secret arrives where rules say, in each form that a request has, and no byte that the agent's host gets has
    /// it: whatever a server echoes, and whatever the agent asks for.
    @Test func agentsUseWhatTheyDoNotHave() throws {
        let text = try lines(
            """
            client tour --list-items --create-passwords \\
                --broker "TOKEN=keychain://api/token to $server in authorization,header:x-api-key,path,query,form,json" \\
                --broker "NARROW=keychain://api/token to https://api.example.test:$other/allowed/* at 127.0.0.1 methods GET" \\
                --broker "PLAIN=keychain://api/token to http://api.example.test:$plain at 127.0.0.1"
            /usr/bin/python3 -c "
            import json
            for line in open('server/requests.jsonl'):
                request = json.loads(line)
                if request['port'] == 'other' and request['target'] != '/cut': print(request['target'], '\(Self.secret)' in line)
            "
            keychain audit --broker --json | grep -cF "$SECRET"
            keychain audit --broker --json | /usr/bin/python3 -c "
            import collections, json, sys
            lines = [json.loads(line)['request'] for line in sys.stdin]
            print(sorted(collections.Counter(line['outcome'] for line in lines).items()), {line['program'] for line in lines})"
            """)
        let refusal = "error: the request did not go out: "
        let stranger = refusal + "no rule names"
        let stray = "200 | text | placeholder: stayed in the request: "
        let expected =
            [
                "2025-11-25 keychain", "list_secrets http_request create_password",
                "TOKEN, {{TOKEN}}, header authorization, header x-api-key, path, query, form, JSON",
                "NARROW, {{NARROW}}, header authorization", "PLAIN, {{PLAIN}}, header authorization",
                "items api/token",
            ] + Self.echoes.map { "\($0) | 200 | text | secrets: ['TOKEN'] | masked" } + [
                "clear | 200 | text | secrets: ['PLAIN'] | masked",
                "covered | 200 | text | secrets: ['NARROW'] | masked",
                "other path | \(stray)no rule for NARROW covers this path | with the placeholder",
                "other method | \(stray)the rule for NARROW is for GET alone | with the placeholder",
                "other secret | \(stray)no rule for TOKEN names this server | with the placeholder",
                "other place | \(stray)no rule for NARROW has it in the query | with the placeholder",
                "beside text | \(stray)other text stands beside the placeholder of TOKEN in the header authorization: it "
                    + "has to be the whole value | with the placeholder",
                "other host | \(stranger) other.example.test, port PORT, and this run reaches no other server",
                "this machine | \(stranger) 127.0.0.1, port PORT, and this run reaches no other server",
                "clear text | \(stranger) other.example.test, port PORT, and this run reaches no other server",
                "header Host | \(refusal)the header 'host' is set by the broker: leave it out",
                "two lines | \(refusal)the value of the header 'x-a' has a control character or several lines",
                "a file | \(refusal)the URL does not begin with https://",
                "a user | \(refusal)the URL names no server: write https://HOST or https://HOST:PORT, without a user",
                "a tunnel | \(refusal)CONNECT is no method for a server",
                "unknown argument | error: there is no argument 'follow': use basic_auth, body, body_base64, headers, "
                    + "max_bytes, method, timeout_seconds, url",
                "big | 200 | text | cut: the body has more than 1000000 bytes", "usual | 200 | text",
                "bytes of no text | 200 | base64",
                "late | error: the request failed: the request was ended after 1 seconds",
                "cut off | 200 | text | cut: the server cannot be reached (HTTPParserError)",
                "no server | \(stranger) api.example.test, port 1, and this run reaches no other server", "0",
                "/allowed/x True", "/elsewhere False", "/allowed/x False", "/allowed/x False",
                "/allowed/x?key=%7B%7BNARROW%7D%7D False", "0",
                "[('failed', 2), ('passed', 3), ('placed', 19), ('refused', 5), ('stray', 5)] {'mcp mcp'}",
            ]
        #expect(text == expected, "\(text.filter { !expected.contains($0) })")
    }

    /// A host may cancel requests, and send many at once.
    @Test func manyRequestsAtOnce() throws {
        let count = TestScale.count(40, soak: 240)
        let text = try lines("COUNT=\(count) client concurrent --broker \"TOKEN=keychain://api/token to $server\"")
        #expect(text == ["after | 200 | text", "\(count) {True}", "0"], "\(text)")
    }

    /// A daemon with a passcode, which a pinentry gives as the file `answer` says.
    private static let daemon = """
        printf code | keychain passcode set --new-passcode-fd 0 > /dev/null 2>&1 || exit 1
        export KEYCHAIN_PINENTRY="$peers/pinentry.py"
        vault=$KEYCHAIN_HOME; unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
        keychaind --home "$vault" --entitlements "$HOME/none" --no-lock-signals --log error \
            --socket "$KEYCHAIN_SOCKET" 2> daemon.log & daemon=$!
        trap 'kill $daemon 2> /dev/null; wait $daemon 2> /dev/null' EXIT
        until [ -S "$KEYCHAIN_SOCKET" ]; do kill -0 $daemon || exit 99; sleep 0.05; done
        printf code | keychain unlock --passcode-fd 0 > /dev/null || exit 98
        """

    /// A person is asked beside the agent, once, and the answer holds for what follows.
    @Test(arguments: ["code", "no"])
    func aPersonIsAsked(_ answer: String) throws {
        let text = try lines(
            """
            \(Self.daemon)
            printf %s '\(answer)' > answer
            client ask --broker "TOKEN=keychain://api/token to $server ask"
            grep -c "use TOKEN at api.example.test (GET /echo)" dialogs
            """)
        let expected =
            answer == "no"
            ? Array(
                repeating:
                    "asked | error: the request did not go out: nobody allowed the use of TOKEN, which is refused "
                    + "from now on", count: 2)
            : Array(repeating: "asked | 200 | text | secrets: ['TOKEN'] | masked", count: 2)
        #expect(text == expected + ["0", "1"], "\(text)")
    }

    /// A yes that comes after the end of the request sends nothing any more.
    @Test func aLateYes() throws {
        let text = try lines(
            """
            \(Self.daemon)
            client late --broker "TOKEN=keychain://api/token to $server ask"
            grep -c /echo/late server/requests.jsonl; true
            """)
        #expect(
            text == [
                "late | error: the request failed: the request was ended after 1 seconds",
                "then | 200 | text | secrets: ['TOKEN'] | masked", "0", "0",
            ], "\(text)")
    }

    /// A new password is in the vault and in no byte that the host gets. An item that is there stays as it is.
    @Test func passwordsAreMadeUnseen() throws {
        let text = try lines(
            """
            agent create --create-passwords --group agents
            for account in app words plain; do
                keychain get db $account > value; grep -cF "$(cat value)" log log.err; wc -c < value
            done
            keychain get api token | cmp - secret; keychain list
            """)
        let made = "made: a new password is stored in the group 'agents'; nobody has seen it"
        let exists = "error: an item has this name already, and was not changed: choose another name"
        #expect(text.prefix(5) == [made, exists, exists, made, made], "\(text)")
        #expect(
            text.dropFirst(5).prefix(4) == [
                "error: 'length' takes a number from 12 to 1024", "error: 'account' is missing",
                "error: 'account' takes text", "0",
            ], "\(text)")
        let values = text.dropFirst(9)
        #expect(values.count { $0.hasSuffix(":0") } == 6 && !values.contains { $0.hasSuffix(":1") }, "\(text)")
        #expect(
            values.suffix(4) == ["api\ttoken\tkeychain"] + ["app", "plain", "words"].map { "db\t\($0)\tagents" },
            "\(text)")
    }

    /// What is no request is answered with the number that JSON-RPC has for it.
    @Test func malformedMessages() throws {
        let text = try lines("agent raw --list-items")
        let none = "(None, -32600)"
        #expect(
            text == [
                "(1, -32600) (2, 'result')", "2025-11-25 (0, -32600)",
            ] + Array(repeating: "(None, -32700)", count: 5) + [
                none, none, none, "(1, -32600)", none, none, "(1, -32600)", "(1, -32600)", "(1, -32601)",
                "(1, -32602)", "(1, -32602)", "('a', -32602)", "('b', -32602)", "(1.5, -32602)", "('c', 'result')",
                "('last', 'result') 0",
                #"["(1, 'result')", "(2, 'result')", "(3, 'result')", '(None, -32600)'] (None, -32600)"#,
                "('last', 'result') 0", "0",
            ], "\(text)")
    }

    @Test func anyLineIsAnswered() throws {
        let count = TestScale.count(200, soak: 200_000)
        let text = try lines(
            """
            export COUNT=\(count) SEED=\(UInt32.random(in: 0...UInt32.max)); echo $SEED
            client fuzz --broker "TOKEN=keychain://api/token to $server in authorization,path,query,form,json"
            """)
        #expect(text.dropFirst() == ["secrets 0", "0"], "\(text)")
    }

    /// Requests to a broker that was killed are errors, and do not wait.
    @Test func theBrokerIsKilled() throws {
        let text = try lines("client broker --broker \"TOKEN=keychain://api/token to $server\"")
        let gone = "keychain-broker ended or does not answer: start this server again"
        #expect(text == ["2 \(gone)", "3 \(gone)", "(4, 'result') 0", "0"], "\(text)")
    }

    /// When the host is gone, or the command is killed, the broker ends.
    @Test func nothingStays() throws {
        let text = try lines(
            """
            client kill --broker "TOKEN=keychain://api/token to $server"
            client end --broker "TOKEN=keychain://api/token to $server"
            ls run
            """)
        #expect(text == ["broker ended -9", "0", "0 broker ended", "0"], "\(text)")
    }

    /// An agent gets no more than options name.
    @Test func commandLines() throws {
        let text = try lines(
            """
            for words in '' '--group a' '--others inspect --list-items' '--list-items --passcode-fd 0'; do
                keychain mcp $words < /dev/null 2>&1 | sed 's/: see .*//'
            done
            keychain mcp --others tunnel --broker "T=keychain://api/token to https://a.example" 2>&1 | grep -c tunnel
            keychain mcp --broker "T=keychain://api/token" 2>&1; true
            """)
        #expect(
            text == [
                "keychain: say what the agent may do: --broker, --project, --list-items or --create-passwords",
                "keychain: say what the agent may do: --broker, --project, --list-items or --create-passwords",
                "keychain: --others and --broker-authority go with --broker or --project",
                "keychain: standard input and output are for the agent's host: choose another descriptor",
                "1",
                "keychain: a rule of --broker names no server: add 'to https://HOST'",
            ], "\(text)")
    }

    /// The rules of a project are an agent's when they are approved.
    @Test func rulesOfAProject() throws {
        let text = try lines(
            """
            printf '%s\\n' 'version = 1' '[[rule]]' 'variable = "TOKEN"' 'secret = "keychain://api/token"' \\
                "to = \\"https://api.example.test:$tls\\"" 'at = "127.0.0.1"' \\
                'in = ["authorization", "header:x-api-key", "path", "query", "form", "json"]' > .keychain-broker.toml
            version='"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"h","version":"1"}'
            headers='"headers":{"Authorization":"Bearer {{TOKEN}}"}'
            call='"name":"http_request","arguments":{"url":"https://api.example.test:'$tls'/echo",'$headers'}'
            begin='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{'$version'}}'
            ask() {
                : > answers
                { printf '%s\\n' "$begin" '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{'"$call"'}}'
                    until [ $(wc -l < answers) -ge 2 ]; do sleep 0.05; done
                } | keychain mcp --project . --broker-authority server/authority.pem > answers
                cat answers
            }
            ask | grep -o 'are not approved'; cat server/requests.jsonl 2> /dev/null | wc -l
            /usr/bin/python3 -B "$peers/typist.py" 'to go on:' approve keychain broker approve > /dev/null
            ask | grep -o 'are not approved'; grep -cF "$SECRET" server/requests.jsonl
            """)
        #expect(text == ["are not approved", "0", "1"], "\(text)")
    }
}
#endif
