#if HTTPClientSupport
import Foundation
import TestSupport
import Testing

/// `keychain run --broker` with a rule that keeps the tokens of a real registry of container images, and a real client
/// of it, which is written in Go.
@Suite struct RegistryTests {
    private let workplace: Workplace
    private static let secret = "dckr_pat_SECRETsecret0123456789ab"

    init() throws { workplace = try Workplace() }

    private static var peers: String { URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer" }

    private static let begin = """
        peers='\(peers)'; mkdir server run; chmod 700 run; mkfifo in; export XDG_RUNTIME_DIR=$HOME/run KEYCHAIN_AUDIT=1
        SECRET='\(secret)' /usr/bin/python3 -B "$peers/registry_server.py" server < in > ports 2> server.log & server=$!
        exec 9> in
        until [ -s ports ]; do kill -0 $server || { cat server.log; exit 1; }; sleep 0.05; done
        port() { /usr/bin/python3 -c "import json; print(json.load(open('ports'))['$1'])"; }
        export registry=api.example.test:$(port registry) tokens=api.example.test:$(port token)
        printf %s '\(secret)' > secret; keychain set registry ci < secret || exit 1
        brokered() {
            words=$1; shift
            keychain run --broker "PASSWORD=keychain://registry/ci to https://$tokens/token at 127.0.0.1 \\
                to https://$registry/v2/* at 127.0.0.1$words" --broker-authority server/authority.pem -- "$@"
        }
        requests() { keychain audit --broker --json | /usr/bin/python3 -c "
        import json, sys
        lines = [json.loads(line)['request'] for line in sys.stdin]
        for line in lines: print(line['outcome'], line['method'], line.get('status'), line.get('reason', ''))"; }
        """

    private func lines(_ text: String) throws -> [String] {
        let outcome = try workplace.run(["/bin/sh", "-c", "cd \"$HOME\"\n" + Self.begin + "\n" + text])
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    /// skopeo pushes an image and gets it back, with placeholders for the password and for the tokens.
    @Test func skopeoUsesTokensThatItDoesNotHave() throws {
        let text = try lines(
            #"""
            /usr/bin/python3 -B "$peers/registry_server.py" image image
            brokered ' keeps token,access_token' sh -c '
                skopeo --insecure-policy copy --quiet --dest-creds "alice:$PASSWORD" oci:image "docker://$registry/box:1"
                skopeo --insecure-policy copy --quiet --src-creds "alice:$PASSWORD" "docker://$registry/box:1" oci:back
                curl -sS -u "alice:$PASSWORD" "https://$tokens/token?scope=repository:box:pull" > got
                curl -sS -H "Authorization: Bearer $(sed "s/.*\"token\": \"\([^\"]*\).*/\1/" got)" \
                    "https://$registry/v2/box/tags/list"' 2> err || cat err server.log
            diff -r image/blobs back/blobs && echo same
            [ $(wc -l < server/tokens) -ge 3 ] && ! grep -qF -f server/tokens got && echo kept
            /usr/bin/python3 -c "
            import json
            found = json.load(open('got'))
            print(len(found['token'].split('.')), found['token'] == found['access_token'], found['expires_in'])"
            requests | grep -E 'stray|refused'; requests | grep -c placed
            """#)
        #expect(text.prefix(4) == [#"{"name":"box","tags":["1"]}"#, "same", "kept", "3 True 300"], "\(text)")
        #expect(text.count == 5 && (text.last.flatMap { Int($0) } ?? 0) > 8, "\(text)")
    }

    /// A token goes where its rule says, as often as it says, and is hidden in what comes back. Without the word, the
    /// program has it.
    @Test func tokensGoWhereTheRuleSays() throws {
        let text = try lines(
            #"""
            cat > ask.sh << 'END'
            got() { curl -sS -u "alice:$PASSWORD" "https://$tokens/token?scope=repository:box:pull" |
                /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["token"])'; }
            try() { curl -sS -o /dev/null -w '%{http_code}\n' "$@"; }
            END
            brokered '' sh -c '. ./ask.sh; got > token; grep -cFx -f token server/tokens' 2> err
            brokered ' keeps token times 5' sh -c '
                . ./ask.sh; first=$(got); second=$(got); [ "$first" != "$second" ] && echo new
                try -H "Authorization: Bearer $first" "https://$registry/v2/"
                try -H "Authorization: Bearer $second" "https://$registry/v2/"
                # Beside other text, in another header, at a path of no rule.
                try -H "Authorization: Bearer x$second" "https://$registry/v2/"
                try -H "X-Token: $second" "https://$registry/v2/"
                try -H "Authorization: Bearer $second" "https://$registry/v1/"
                try -H "Authorization: Bearer $second" "https://$registry/v2/_catalog"
                # It is used up.
                try -H "Authorization: Bearer $second" "https://$registry/v2/"' 2> err
            # A server may ignore that a WebSocket is asked for.
            brokered ' keeps token' sh -c '
                curl -sS --http1.1 -H "Connection: Upgrade" -H "Upgrade: websocket" -H "Sec-WebSocket-Version: 13" \
                    -H "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==" -u "alice:$PASSWORD" "https://$tokens/token"' 2> err
            # The placeholder of another run is none.
            brokered ' keeps token' sh -c '. ./ask.sh; got > former'
            brokered ' keeps token' sh -c '. ./ask.sh; try -H "Authorization: Bearer $(cat former)" "https://$registry/v2/"'
            # Only the last 32 are known.
            brokered ' keeps token' sh -c '
                . ./ask.sh; first=$(got); for number in $(seq 32); do last=$(got); done
                try -H "Authorization: Bearer $first" "https://$registry/v2/"
                try -H "Authorization: Bearer $last" "https://$registry/v2/"' 2> err
            requests | grep -E 'refused' | sort | uniq -c | sed 's/^ *//'
            """#)
        #expect(
            text == [
                "1", "new", "200", "200", "401", "401", "404", "401", "403",
                "keychain: the rule keeps tokens of answers, so it lets no WebSocket have the secret", "401", "401",
                "200",
                "1 refused GET None the rule for PASSWORD has 'times 5', which is used up",
                "1 refused GET None the rule keeps tokens of answers, so it lets no WebSocket have the secret",
            ], "\(text)")
    }

    /// An answer from which the tokens cannot be taken does not reach the program.
    @Test func answersThatCannotBeRead() throws {
        let text = try lines(
            #"""
            mkfifo in2; mkdir other
            SECRET=x /usr/bin/python3 -B "$peers/broker_server.py" other < in2 > ports2 2> other.log & exec 8> in2
            until [ -s ports2 ]; do sleep 0.05; done
            export server=api.example.test:$(/usr/bin/python3 -c "import json; print(json.load(open('ports2'))['other'])")
            keychain run --broker "T=keychain://registry/ci to https://$server at 127.0.0.1 keeps \
                access_token,refresh_token" --broker-authority other/authority.pem -- sh -c '
                ask() { curl -sS -H "Authorization: Bearer $T" "$@"; echo; }
                ask "https://$server/token"
                for body in "{\"access_token\": \"short\"}" "{\"access_token\": \"\\ud800 is no letter\"}" \
                    "{\"access_token\": \"$(head -c 1100000 /dev/zero | tr "\0" x)\"}"; do
                    printf "%s" "$body" | ask --data-binary @- "https://$server/verbatim"
                done' 2> err || cat err
            """#)
        #expect(
            text.first?.contains("issued-") == false && text.first?.contains("\"scope\": \"read\"") == true, "\(text)")
        #expect(
            text.dropFirst() == [
                "keychain: the answer's member 'access_token' does not have 8 to 16384 bytes",
                "keychain: the answer's member 'access_token' has a text that is not JSON",
                "keychain: an answer of which tokens are kept has more than 1 MiB: have the rule name the path of the tokens",
            ], "\(text)")
    }
}
#endif
