#if HTTPClientSupport
import Foundation
import TestSupport
import Testing

/// Rules of a project: approved by a person, and by nobody else.
@Suite struct ProjectRulesTests {
    private let workplace: Workplace
    private static let secret = "ghp_SECRETsecret0123456789abcdefABCDEFxy"

    init() throws { workplace = try Workplace() }

    private static var peers: String { URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer" }

    /// The beginning of each script: an item, a project with rules, and the word by which a vault without a passcode
    /// approves.
    private var begin: String {
        """
        peers='\(Self.peers)'; mkdir run project; chmod 700 run; export XDG_RUNTIME_DIR=$HOME/run NO_COLOR=1
        printf %s '\(Self.secret)' | keychain set api token || exit 1
        port=443
        rules() {
            cat <<END
        version = 1
        [[rule]]
        variable = "TOKEN"
        secret = "keychain://api/token"
        to = "https://api.example.test:$port/allowed/*"
        at = "127.0.0.1"
        END
        }
        rules > project/.keychain-broker.toml
        # What a person types.
        typed() { word=$1 line=$2; shift 2; /usr/bin/python3 -B "$peers/typist.py" "$word" "$line" "$@"; }
        approve() { typed 'to go on:' approve keychain broker approve "$@"; }
        short() { sed "s|$HOME|~|g; s|$(readlink -f "$HOME")|~|g; s/SHA-256.*/SHA-256/"; }
        """
    }

    /// A server, and `port`.
    private var server: String {
        """
        mkdir server; mkfifo in
        SECRET='\(Self.secret)' /usr/bin/python3 -B "$peers/broker_server.py" server < in > ports 2> server.log & exec 9> in
        until [ -s ports ]; do sleep 0.05; done
        port=$(/usr/bin/python3 -c "import json; print(json.load(open('ports'))['tls'])")
        other=$(/usr/bin/python3 -c "import json; print(json.load(open('ports'))['other'])")
        rules > project/.keychain-broker.toml
        """
    }

    /// A daemon with a passcode, unlocked, for a program with the rights of the owner.
    private var daemon: String {
        """
        printf 'pass code' | keychain passcode set --new-passcode-fd 0 > /dev/null 2>&1 || exit 1
        vault=$KEYCHAIN_HOME; unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
        keychaind --home "$vault" --entitlements "$HOME/none" --no-lock-signals --log error \
            --socket "$KEYCHAIN_SOCKET" 2> daemon.log & daemon=$!
        trap 'kill $daemon 2> /dev/null; wait $daemon 2> /dev/null' EXIT
        until [ -S "$KEYCHAIN_SOCKET" ]; do kill -0 $daemon || exit 99; sleep 0.05; done
        printf 'pass code' | keychain unlock --passcode-fd 0 > /dev/null || exit 98
        """
    }

    private func lines(_ text: String) throws -> [String] {
        let outcome = try workplace.run(["/bin/sh", "-c", "cd \"$HOME\"\n" + begin + "\n" + text])
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    private static let refused = "keychain: ~/project/.keychain-broker.toml: its rules are not "
    private static let remedy = "read it, and run `keychain broker approve ~/project`"

    /// What is approved works, one byte more does not, and what was approved before shows what is new.
    @Test func oneContentIsApproved() throws {
        let text = try lines(
            """
            \(server)
            run() { keychain run --project project --broker-authority server/authority.pem "$@"; }
            run -- touch started 2>&1 | short
            approve project | short
            run --summary -- sh -c 'curl -sS -o /dev/null -w "%{http_code}\\n" \\
                -H "Authorization: Bearer $TOKEN" https://api.example.test:'$port'/allowed/echo
                curl -sS -o /dev/null https://api.example.test:'$other'/echo 2> /dev/null' 2> err
            grep -v connection err | sed "s/:[0-9][0-9]*//"
            grep -c '\(Self.secret)' server/requests.jsonl
            keychain broker list | cut -f 1,3 | short
            (cat project/.keychain-broker.toml; echo 'methods = "GET"') > new; cat new > project/.keychain-broker.toml
            run -- touch started 2>&1 | short
            keychain broker list | cut -f 3
            approve project | grep -c '^[-+]'
            run -- true && echo runs
            keychain broker revoke project; run -- touch started 2>&1 | short
            keychain broker list; ls started 2>&1 | wc -l; ls -d started 2> /dev/null; true
            """)
        let rule = "TOKEN: the secret 'token' of 'api'; to https://api.example.test:PORT/allowed/*, at the address "
        let words = text.map { $0.replacing(#/:[0-9]{4,5}/#, with: ":PORT") }
        #expect(
            words == [
                Self.refused + "approved: " + Self.remedy, "~/project/.keychain-broker.toml, SHA-256",
                "  \(rule)127.0.0.1; in header authorization; any method; any number of requests; nobody is asked",
                "  other servers: none can be reached",
                "The vault has no passcode: any program of yours could approve these rules, too.",
                "Type 'approve' to go on: approve", "200", "keychain: TOKEN went to api.example.test once",
                "keychain: requests refused: api.example.test once", "1",
                "~/project/.keychain-broker.toml\tapproved", Self.refused + "those that you approved: " + Self.remedy,
                "changed",
                "0", "runs", Self.refused + "approved: " + Self.remedy, "1",
            ], "\(words)")
    }

    /// What is revoked is revoked, also where a program stored the approval under other names.
    @Test func whatIsRevokedIsNotElsewhere() throws {
        let text = try lines(
            """
            approve project > /dev/null; service=broker-approval/$(readlink -f project)/.keychain-broker.toml
            keychain get "$service" '' > approval.json
            keychain set "$service" x < approval.json > /dev/null || echo cannot
            keychain set --group other "$service" '' < approval.json > /dev/null || echo cannot
            keychain broker list | wc -l
            keychain broker revoke project; keychain run --project project -- echo ran 2>&1 | short
            keychain get "$service" x 2> /dev/null; echo "status $?"
            keychain set "$service" x < approval.json > /dev/null
            keychain set --group other "$service" '' < approval.json > /dev/null
            keychain run --project project -- echo ran 2>&1 | short; keychain broker list
            keychain broker revoke project; keychain broker revoke project 2> /dev/null || echo none
            """)
        let refused = Self.refused + "approved: " + Self.remedy
        #expect(text == ["1", refused, "status 44", refused, "none"], "\(text)")
    }

    /// Marks tell what changed since a person approved, and not since what a program wrote.
    @Test func noProgramWritesWhatWasApproved() throws {
        let text = try lines(
            """
            \(daemon)
            file=project/.keychain-broker.toml; service=broker-approval/$(readlink -f project)/.keychain-broker.toml
            approve() { typed 'asscode:' 'pass code' keychain broker approve project; }
            marks() { grep '^[-+]' | grep -o -e '^..' -e 'methods GET' -e 'any method' -e '[0-9] request'; }
            approve > /dev/null; echo 'methods = "GET"' >> $file; approve | marks
            keychain get "$service" '' > approval.json; echo 'times = 7' >> $file
            /usr/bin/python3 -B -c "
            import json
            approval = json.load(open('approval.json'))
            approval['words'] = [line.replace('any number of requests', 'at most 7 requests a run')
                for line in approval['words']] + ['\\x1b[2J\\u202e']
            print(json.dumps(approval), end='')" > forged.json
            keychain set "$service" '' < forged.json > /dev/null || echo cannot
            keychain broker list | cut -f 3
            approve > shown; grep -c '^[-+]' shown; grep -c "$(printf '\\033')" shown
            sed -i '$d' $file; approve | marks
            """)
        #expect(
            text == [
                "- ", "any method", "+ ", "methods GET", "changed", "0", "0", "- ", "methods GET", "7 request", "+ ",
                "methods GET",
            ], "\(text)")
    }

    /// The question for the passcode shows each server, or says how many it does not show.
    @Test func theQuestionNamesServers() throws {
        let text = try lines(
            """
            \(daemon)
            long=$(printf %0200d 0 | tr 0 a)/$(printf %0200d 0 | tr 0 b); mkdir -p "$long"
            rule() {
                printf '[[rule]]\\nvariable = "%s"\\nsecret = "keychain://api/token"\\nto = "%s"\\n%s\\n' "$@"
            }
            {
                echo 'version = 1'; rule "T_$(printf %062d 0)" https://a.example ''; rule B 'https://a.example/v1/*' ''
                rule C https://b.example:8443 'at = "192.0.2.7"'; rule D http://c.example ''
                rule E postgres://me@db.example:5433/base ''
            } > "$long/.keychain-broker.toml"
            asked() {
                typed 'asscode:' 'pass code' keychain broker approve "$1" > shown || cat shown
                grep -o 'approve rules: .*' shown | head -1
            }
            asked "$long"
            {
                echo 'version = 1'
                for number in $(seq 10 59); do rule T$number https://server-$number.example ''; done
            } > project/.keychain-broker.toml
            asked project
            name=$(printf %060d 0 | tr 0 a)
            { echo 'version = 1'; rule T https://$name.$name.$name.example ''; } > project/.keychain-broker.toml
            asked project
            """)
        #expect(text.count == 3, "\(text)")
        let servers =
            "a.example, b.example:8443 at 192.0.2.7, http://c.example, postgres://me@db.example:5433/base; in /"
        #expect(text.first?.hasPrefix("approve rules: secrets to \(servers)") == true, "\(text)")
        #expect(text.first?.contains("…" + String(repeating: "b", count: 32)) == true, "\(text)")
        let many = "server-17.example, server-18.example and 41 more servers, not shown here; in /"
        #expect(text.dropFirst().first?.contains(many) == true, "\(text)")
        #expect(text.last?.hasPrefix("approve rules: secrets to 1 server, not shown here; in /") == true, "\(text)")
    }

    /// A program with all rights of the owner, except that no person is there, approves nothing: not by the command,
    /// not by an item that it writes itself, not with the approval of other rules, and not with a key of its own.
    @Test func noProgramApprovesForItself() throws {
        let text = try lines(
            """
            \(daemon)
            typed 'asscode:' 'pass code' keychain broker approve project > shown || { cat shown; exit 2; }
            keychain run --project project -- true && echo approved
            place=$(readlink -f project)/.keychain-broker.toml
            keychain get "broker-approval/$place" '' > approval.json
            echo 'times = 100' >> project/.keychain-broker.toml
            refused() { keychain run --project project -- echo started 2>&1 | short; }
            setsid keychain broker approve project < /dev/null > /dev/null 2>&1; echo "status $?"; refused
            printf 'y\\napprove\\n' | setsid keychain broker approve project > /dev/null 2>&1; echo "status $?"; refused
            typed 'asscode:' approve keychain broker approve project > /dev/null; echo "status $?"; refused
            digest=$(sha256sum < project/.keychain-broker.toml | cut -d ' ' -f 1)
            put() { keychain set "broker-approval/$place" '' > /dev/null || echo cannot; refused; }
            printf '{"digest":"%s","words":[]}' $digest | put
            sed "s/\\"digest\\":\\"[0-9a-f]*/\\"digest\\":\\"$digest/" approval.json | tr -d '\\n' | put
            /usr/bin/python3 -B "$peers/approval_forger.py" approval.json "$place" project/.keychain-broker.toml | put
            keychain broker list | cut -f 3
            # The approval itself, for the content that it is for, at another path.
            cp -r project copy; sed -i '$d' copy/.keychain-broker.toml
            keychain set "broker-approval/$(readlink -f copy)/.keychain-broker.toml" '' < approval.json > /dev/null
            keychain run --project copy -- echo started 2>&1 | short
            """)
        let changed = Self.refused + "those that you approved: " + Self.remedy
        let unproven =
            "keychain: ~/project/.keychain-broker.toml: its rules were approved without the passcode that the vault has "
            + "now: " + Self.remedy
        #expect(text.first == "approved", "\(text)")
        let rest = Array(text.dropFirst())
        #expect(rest.count == 11, "\(text)")
        for index in [0, 2, 4] where index < rest.count { #expect(rest[index] != "status 0", "\(text)") }
        for index in [1, 3, 5] where index < rest.count { #expect(rest[index] == changed, "\(rest[index])") }
        for index in 6..<9 where index < rest.count { #expect(rest[index] == unproven, "\(index): \(rest[index])") }
        #expect(rest.dropFirst(9).first == "unproven", "\(text)")
        #expect(rest.last == unproven.replacing("~/project", with: "~/copy"), "\(text)")
    }

    /// An approval from before the vault had a passcode holds no more.
    @Test func aPasscodeEndsWhatAnyProgramCouldApprove() throws {
        let text = try lines(
            """
            approve project > /dev/null; keychain run --project project -- echo approved
            setsid keychain broker approve < /dev/null project > /dev/null 2>&1; echo "status $?"
            \(daemon)
            keychain run --project project -- echo started 2>&1 | short
            typed 'asscode:' 'pass code' keychain broker approve project > /dev/null
            keychain run --project project -- echo approved
            """)
        #expect(
            text == [
                "approved", "status 0",
                "keychain: ~/project/.keychain-broker.toml: its rules were approved without the passcode that the vault has "
                    + "now: " + Self.remedy, "approved",
            ], "\(text)")
    }

    /// A program that runs by the rules widens them, and does not run by them.
    @Test(arguments: ["", "--isolated"])
    func aProgramDoesNotWidenItsRules(_ option: String) throws {
        let text = try lines(
            """
            (cd project && approve > /dev/null)
            cd project
            keychain run --project . \(option) -- sh -c '
                sed -i s,/allowed/,/, .keychain-broker.toml && echo wrote
                keychain run --project . -- echo started > /dev/null 2>&1; echo "status $?"'
            keychain run --project . \(option) -- echo started 2>&1 | short
            """)
        #expect(text.first == "wrote" && text.dropFirst().first != "status 0", "\(text)")
        #expect(text.last == Self.refused + "those that you approved: " + Self.remedy, "\(text)")
    }

    /// Files and folders that another user may have written, links, and what is no file.
    @Test func whatIsNotTheOwners() throws {
        let text = try lines(
            """
            try() { keychain broker approve "${1:-project}" 2>&1 < /dev/null | tail -1 | short; }
            file=project/.keychain-broker.toml
            chmod o+w $file; try; chmod o-w $file
            chmod o+w project; try; chmod o-w project
            chgrp daemon $file; chmod g+w $file; try; chmod g-w $file; chgrp $(id -g) $file
            chown daemon $file; try; chown $(id -u) $file
            chown daemon project; try; chown $(id -u) project
            mv $file elsewhere; ln -s ../elsewhere $file; try; rm $file
            mkfifo $file; try; rm $file; mkdir $file; try; rmdir $file; try
            ln -s project link; mv elsewhere $file; approve link | sed -n 1p | short
            keychain run --project project -- echo runs; keychain run --project link -- echo runs
            keychain run --project $file -- echo runs
            head -c 70000 /dev/zero | tr '\\0' '#' > $file; try
            printf '[\\n' > $file; try | sed 's/ by .*//'
            try nowhere
            """)
        let path = "keychain: ~/project/.keychain-broker.toml: "
        let folder = "keychain: ~/project: "
        let written = "may be written by other users, whose rules are not used: run `chmod go-w "
        let foreign = "belongs to another user, whose rules are not used: take a copy of your own"
        #expect(
            text == [
                path + written + "~/project/.keychain-broker.toml`", folder + written + "~/project`",
                path + written + "~/project/.keychain-broker.toml`", path + foreign, folder + foreign,
                path + "is a symbolic link: rules are in a file of the project itself",
                path + "is not a regular file: rules are in a file of the project itself",
                path + "is not a regular file: rules are in a file of the project itself",
                path + "is not there: write the rules of the project into it, or name its folder",
                "~/project/.keychain-broker.toml, SHA-256", "runs", "runs", "runs",
                path + "has more than 64 KiB, and rules are short", path + "cannot be read as TOML",
                "keychain: ~/nowhere: is not there: write the rules of the project into it, or name its folder",
            ], "\(text)")
    }

    /// A file that wants to deceive the one who reads it shows what it does.
    @Test func whatIsShownIsPlain() throws {
        let text = try lines(
            """
            printf 'version = 1\\n[[rule]]\\nvariable = "T"\\nsecret = "keychain://a%%1B%%5B2J/b%%E2%%80%%AE"\\nto = "http://a.example"\\n' \\
                > project/.keychain-broker.toml
            keychain broker approve project 2>&1 < /dev/null | sed -n 2p
            printf 'version = 1\\n[[rule]]\\nvariable = "T"\\nsecret = "keychain://a/%%D8%%9Cb%%E2%%80%%8B%%F3%%A0%%81%%81%%C2%%A0%%5C%%27%%20of%%20%%27%%20%%20%%20c"\\nto = "https://a"\\n' \\
                > project/.keychain-broker.toml
            keychain broker approve project 2>&1 < /dev/null | sed -n 2p | sed 's/; to .*//'
            printf 'version = 1\\n[[rule]]\\n"\\\\u001B[2J\\\\u202E" = 1\\n' > project/.keychain-broker.toml
            keychain broker approve project 2>&1 < /dev/null | grep -o 'has the key.*:'
            printf 'version = 1\\n[[rule]]\\nvariable = "HTTPS_PROXY"\\nsecret = "keychain://a/b"\\nto = "https://a"\\n' \\
                > project/.keychain-broker.toml
            keychain broker approve project 2>&1 < /dev/null | grep -o 'rule 1.*'
            """)
        #expect(
            text == [
                #"  T: the secret 'b\u{202e}' of 'a\u{1b}[2J'; to http://a.example/*, IN CLEAR TEXT; in header authorization; "#
                    + "any method; any number of requests; nobody is asked",
                #"  T: the secret '\u{61c}b\u{200b}\u{e0041}\u{a0}\\\' of \'\u{20}×3c' of 'a'"#,
                #"has the key '\u{1b}[2J\u{202e}':"#,
                "rule 1 names HTTPS_PROXY, which this run or the program needs itself",
            ], "\(text)")
    }

    /// What a run lacks is said for each name, without a value, and what to do.
    @Test func check() throws {
        let text = try lines(
            """
            cat > app.env <<END
            MODE=production
            PASSWORD=keychain://com.example.db/it%27s
            KEY=keychain://api/token
            END
            run() { keychain run --env-file app.env --project project --check "$@" | short; }
            status() { keychain run --env-file app.env --project project --check > /dev/null 2>&1; echo "status $?"; }
            run; status
            printf value | keychain set com.example.db "it's"; run -- nowhere | tail -1; status
            approve project > /dev/null; run | cut -f 3 | sort | uniq -c | sed 's/^ *//'; status
            run --json | /usr/bin/python3 -c "
            import json, sys
            report = json.load(sys.stdin)
            print(report['ready'], [secret['state'] for secret in report['secrets']], report['project']['state'],
                [sorted(program) for program in report['programs']])"
            run --json | grep -cF '\(Self.secret)'
            KEYCHAIN_HOME=$HOME/no run | head -1; ls no 2>&1 | grep -c 'cannot access'
            """)
        #expect(
            text == [
                #"PASSWORD\#tkeychain://com.example.db/it%27s\#tmissing\#tkeychain set com.example.db 'it'\''s'"#,
                "KEY\tkeychain://api/token\tpresent\t", "TOKEN\tkeychain://api/token\tpresent\t",
                "rules\t~/project/.keychain-broker.toml\tnot approved\tkeychain broker approve ~/project",
                "program\tkeychain-broker\tpresent\t", "status 44",
                "program\tnowhere\tmissing\tname a program that is there", "status 1", "1 approved", "4 present",
                "status 0",
                "True ['present', 'present', 'present'] approved [['name', 'present']]", "0",
                #"PASSWORD\#tkeychain://com.example.db/it%27s\#tmissing\#tkeychain set com.example.db 'it'\''s'"#, "1",
            ], "\(text)")
    }

    /// Whatever a project writes, the command answers, and approves nothing of it.
    @Test func anyBytes() throws {
        let count = TestScale.count(40, soak: 5_000)
        let text = try lines(
            """
            /usr/bin/python3 -B -c "
            import random, subprocess, sys
            seed = \(UInt32.random(in: 0...UInt32.max)); random.seed(seed)
            valid = open('project/.keychain-broker.toml', 'rb').read()
            pieces = [b'[', b'[[', b']', b'{', b'}', b'=', b',', b'.', b'\\"', b'\\n', b'\\x00', b'\\xff', b'1e400', b'a.b',
                b'[[rule]]', b'#', b'\\xe2\\x80\\xae', b'1979-05-27T07:32:00Z']
            for number in range(\(count)):
                data = bytearray(valid if random.random() < 0.8 else b'')
                for _ in range(random.randint(1, 6)):
                    place = random.randint(0, len(data))
                    data[place:place + random.choice([0, 0, 1, 5])] = random.choice(pieces)
                open('project/.keychain-broker.toml', 'wb').write(data)
                run = subprocess.run(['keychain', 'broker', 'approve', 'project'], stdin=subprocess.DEVNULL,
                    capture_output=True)
                if run.returncode not in (1, 36) or b'keychain: ' not in run.stderr or b'\\xe2\\x80\\xae' in run.stdout:
                    print(seed, number, run.returncode, run.stderr, bytes(data)); sys.exit(0)
            print('answered')"
            keychain broker list
            """)
        #expect(text == ["answered"], "\(text)")
    }
}
#endif
