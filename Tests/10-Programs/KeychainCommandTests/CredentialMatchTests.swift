import Foundation
import TestSupport
import Testing

/// Which stored password answers which request: none is given to, or erased by, another service.
///
/// The table "What matches what" of Documentation/Use/Helpers.md says what is tested here.
@Suite struct CredentialMatchTests {
    private static let helpers = ["git-credential-keychain", "docker-credential-keychain", "keychain-askpass"]

    private func workplace() throws -> Workplace {
        let workplace = try Workplace()
        for name in Self.helpers {
            try FileManager.default.createSymbolicLink(
                atPath: "\(workplace.path)/bin/\(name)",
                withDestinationPath: FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(workplace.path)/bin/keychain"))
        }
        return workplace
    }

    /// Runs lines of a script, and returns what each of them prints.
    private func answers(_ workplace: Workplace, _ lines: [String]) throws -> [String] {
        let script = lines.map { $0 + " 2>>errors; printf '\\036'" }.joined(separator: "\n")
        let outcome = try workplace.shell("g() { printf '%b' \"$2\" | git-credential-keychain $1; }\n" + script)
        let answers = outcome.text.split(separator: "\u{1E}", omittingEmptySubsequences: false).map(String.init)
        try #require(answers.count == lines.count + 1, "\(outcome.errors)")
        return answers.dropLast()
    }

    /// One service and user. Each combination has a password of its own.
    private struct Login {
        var scheme: String
        var host: String
        var port: String
        var path: String
        var user: String

        static let all: [Login] = ["https", "http"].flatMap { scheme in
            ["a.example", "b.example"].flatMap { host in
                ["", "8443"].flatMap { port in
                    ["", "team/one.git"].flatMap { path in
                        ["alice", "bob@corp.example"].map { user in
                            Login(scheme: scheme, host: host, port: port, path: path, user: user)
                        }
                    }
                }
            }
        }

        /// The same service, written in another way.
        var inAnotherForm: Login {
            var other = self
            other.host = host.uppercased()
            other.port = port.isEmpty ? (scheme == "https" ? "443" : "80") : "0" + port
            return other
        }

        private var authority: String { host + (port.isEmpty ? "" : ":" + port) }

        /// A request of git.
        func request(named: Bool = true, password: String? = nil) -> String {
            "protocol=\(scheme)\\nhost=\(authority)\\n" + (path.isEmpty ? "" : "path=\(path)\\n")
                + (named ? "username=\(user)\\n" : "") + (password.map { "password=\($0)\\n" } ?? "")
        }

        func url(named: Bool = true) -> String {
            "\(scheme)://" + (named ? user + "@" : "") + authority + (path.isEmpty ? "" : "/" + path)
        }

        func isSameService(as other: Login) -> Bool {
            (scheme, host, port, path) == (other.scheme, other.host, other.port, other.path)
        }
    }

    private func stored(_ workplace: Workplace) throws {
        _ = try answers(
            workplace,
            Login.all.enumerated().map { "g store '\($1.request(password: "p\($0)"))'" })
    }

    @Test func eachServiceGetsItsOwnPassword() throws {
        let workplace = try workplace()
        try stored(workplace)
        for (index, login) in Login.all.enumerated() {
            for form in [login, login.inAnotherForm] {
                let got = try answers(
                    workplace,
                    [
                        "g get '\(form.request())'", "keychain-askpass \"Password for '\(form.url())': \"",
                        "keychain internet get '\(form.url())'", "g get '\(form.request(named: false))'",
                        "keychain-askpass 'Password for \"\(form.url(named: false))\"'",
                    ])
                #expect(got[0] == "username=\(login.user)\npassword=p\(index)\n", "\(form)")
                #expect(got[1] == "p\(index)\n" && got[2] == "p\(index)", "\(form)")
                // Of the users of a service, but of no other one.
                let users = Login.all.indices.filter { Login.all[$0].isSameService(as: login) }
                #expect(users.map { "username=\(Login.all[$0].user)\npassword=p\($0)\n" }.contains(got[3]), "\(form)")
                #expect(users.map { "p\($0)\n" }.contains(got[4]), "\(form)")
            }
        }
    }

    /// All others are there, and none of them takes the place of the one that is not.
    @Test func noServiceGetsThePasswordOfAnother() throws {
        let workplace = try workplace()
        try stored(workplace)
        let count = Login.all.count
        for (index, login) in Login.all.enumerated() {
            let other = login.inAnotherForm
            let got = try answers(
                workplace,
                [
                    // Another password is not the one that was refused.
                    "g erase '\(login.request(password: "p\((index + 1) % count)"))'", "g get '\(login.request())'",
                    "g erase '\(other.request(password: "p\(index)"))'", "keychain internet list | wc -l",
                    "g get '\(login.request())'", "keychain-askpass \"Password for '\(other.url())': \"",
                    "keychain internet get '\(login.url())'", "keychain internet delete '\(other.url())'",
                    "g erase '\(login.request())'", "keychain internet list | wc -l",
                    "g store '\(other.request(password: "p\(index)"))'",
                ])
            #expect(got[1].contains("password=p\(index)\n"), "\(login)")
            #expect(got[3] == "\(count - 1)\n" && got[9] == got[3], "\(login)")
            #expect(got[4...8].joined() == "", "\(login) \(got)")
        }
        #expect(try answers(workplace, ["keychain internet list | wc -l"]) == ["\(count)\n"])
        // Both users of a service are gone, and nobody else answers for it.
        for login in Login.all where login.user == "alice" {
            let got = try answers(
                workplace,
                [
                    "g erase '\(login.request(named: false))'", "g get '\(login.request(named: false))'",
                    "keychain-askpass \"Username for '\(login.url(named: false))': \"",
                    "keychain internet get '\(login.url(named: false))'",
                ])
            #expect(got.joined() == "", "\(login) \(got)")
        }
        #expect(try answers(workplace, ["keychain internet list"]) == [""])
    }

    @Test func hostsOfAllForms() throws {
        let workplace = try workplace()
        let store = { (host: String, password: String) in
            "g store 'protocol=https\\nhost=\(host)\\nusername=u\\npassword=\(password)\\n'"
        }
        let get = { (host: String) in "g get 'protocol=https\\nhost=\(host)\\n'" }
        let stores = [
            store("[::1]", "one"), store("[::1]:8443", "two"), store("dot.example.", "three"),
            store("Mixed.Example", "four"), store("localhost", "five"),
        ]
        let asked: [(String, String?)] = [
            ("[::1]", "one"), ("[::1]:443", "one"), ("[::1]:8443", "two"), ("[::1]:1", nil), ("[::]:8443", nil),
            ("::1", "one"), ("dot.example.", "three"), ("dot.example", nil), ("mixed.example", "four"),
            ("MIXED.EXAMPLE:443", "four"), ("mixed.example.", nil), ("mixed.example:", "four"), ("localhost", "five"),
            ("localhost:444", nil), ("localhost:+443", nil), ("localhost:-1", nil), ("localhost:65979", nil),
            ("localhost:99999999999999999999", nil), ("local", nil), ("u@localhost", nil), ("localhost/x", nil),
            ("localhost?x", nil), ("", nil), (":443", nil), ("\u{212A}", nil), ("localhos\\0164", "five"),
        ]
        _ = try answers(workplace, stores)
        for ((host, password), answer) in zip(asked, try answers(workplace, asked.map { get($0.0) })) {
            #expect(answer == password.map { "username=u\npassword=\($0)\n" } ?? "", "\(host)")
        }
        // A name of Apple's for https is another protocol.
        let other = try answers(
            workplace,
            [
                "g get 'protocol=htps\\nhost=localhost\\n'",
                "g store 'protocol=htps\\nhost=h\\nusername=u\\npassword=p\\n'",
                "g get 'protocol=https\\nhost=h\\n'", "g get 'protocol=htps\\nhost=h\\n'",
                "g get 'protocol=HTTPS\\nhost=localhost\\n'",
            ])
        #expect(other == ["", "", "", "username=u\npassword=p\n", "username=u\npassword=five\n"])
    }

    /// What a listing shows names that password.
    @Test func aListedAddressIsReadAgain() throws {
        let workplace = try workplace()
        let paths = ["a%41", "aA", "a?x", "a#y", "a//b", "a b", "ä", "%", "a%2541"]
        for (index, path) in paths.enumerated() {
            let got = try answers(
                workplace,
                [
                    "g store 'protocol=https\\nhost=p\(index).example\\npath=\(path)\\nusername=u@v\\npassword=p\(index)\\n'",
                    "keychain internet get \"$(keychain internet list p\(index).example | cut -f1)\" --account u@v",
                    "g get 'protocol=https\\nhost=p\(index).example\\npath=\(path)\\n'",
                ])
            #expect(got[1] == "p\(index)" && got[2] == "username=u@v\npassword=p\(index)\n", "\(path) \(got)")
        }
    }

    /// A user's name is in git's question as it is, and can look like a host.
    @Test func noUserNameHidesTheHostOfAQuestion() throws {
        let workplace = try workplace()
        let got = try answers(
            workplace,
            [
                "printf secret | keychain internet set https://alice@git.example",
                "printf herring | keychain internet set https://git.example/x@evil.example --account alice",
                "printf ssh | keychain internet set ssh://alice@git.example",
            ])
        #expect(got == ["", "", ""])
        let questions = [
            "https://git.example?@evil.example", "https://git.example#@evil.example",
            "https://git.example\\\\@evil.example", "https://git.example/@evil.example",
            "https://git.example:443@evil.example", "https://alice@git.example@evil.example",
            "https://git.example%2F@evil.example", "https://git.example%00@evil.example", "git.example", "https://",
            "https://git.example:x", "http://git.example", "ssh2://git.example", "https://alice@git.example/other",
        ]
        for question in questions {
            for form in [
                "Password for '\(question)': ", "Username for '\(question)': ", "Password for \\\"\(question)\\\"",
            ] {
                #expect(try answers(workplace, ["keychain-askpass \"\(form)\""]) == [""], "\(form)")
            }
        }
        let ssh = [
            "alice@evil.example's password: ", "(alice@evil.example) alice@git.example's password: ",
            "(bob@evil.example) (alice@git.example) Password: ", "bob@git.example's password: ",
        ]
        for question in ssh {
            #expect(try answers(workplace, ["keychain-askpass \"\(question)\""]) == [""], "\(question)")
        }
        #expect(try answers(workplace, ["keychain-askpass \"alice@GIT.example's password: \""]) == ["ssh\n"])
    }

    /// What docker and git keep for one address are passwords of their own, and for docker each text is a server.
    @Test func dockersPasswordsAreNotThoseOfGit() throws {
        let workplace = try workplace()
        let servers = [
            "https://index.docker.io/v1/", "https://index.docker.io/v1", "index.docker.io", "docker.io",
            "https://docker.io", "http://docker.io", "docker.io:5000", "DOCKER.IO",
            "https://index.docker.io/v1/access-token",
            "registry.example/team", "registry.example",
        ]
        let store = servers.enumerated().map { index, server in
            "echo '{\"ServerURL\":\"\(server)\",\"Username\":\"alice\",\"Secret\":\"d\(index)\"}' | docker-credential-keychain store"
        }
        let get = servers.map { "printf '\($0)' | docker-credential-keychain get" }
        _ = try answers(workplace, store)
        for (index, answer) in try answers(workplace, get).enumerated() {
            #expect(answer.contains("\"Secret\":\"d\(index)\""), "\(servers[index]) \(answer)")
        }
        for (index, server) in servers.enumerated() {
            let got = try answers(
                workplace,
                [
                    "printf '\(server)' | docker-credential-keychain erase", get[index],
                    "docker-credential-keychain list | tr , '\\n' | wc -l", store[index],
                ])
            #expect(got[1] == "credentials not found in native keychain\n", "\(server)")
            #expect(got[2] == "\(servers.count - 1)\n", "\(server)")
        }
        let others = try answers(
            workplace,
            [
                "g get 'protocol=https\\nhost=docker.io\\n'",
                "keychain-askpass \"Password for 'https://alice@docker.io': \"",
                "g erase 'protocol=https\\nhost=docker.io\\n'",
                "g store 'protocol=https\\nhost=registry.example\\nusername=alice\\npassword=git\\noauth_refresh_token=later\\n'",
                "keychain internet get https://alice@registry.example",
                "keychain internet get https://alice@registry.example --domain ''",
                "keychain internet get https://alice@registry.example --domain docker",
                "keychain internet delete https://registry.example --domain ''; keychain internet list --json | grep -c refresh",
                get[servers.count - 1], get[3],
            ])
        #expect(others[0...4].joined() == "", "\(others)")
        #expect(others[5...7] == ["git", "d10", "0\n"])
        #expect(others[8].contains("\"d10\"") && others[9].contains("\"d3\""))
    }

    /// The commands for people, who may leave out the protocol, but not a port or a path.
    @Test func anAddressOfACommandMeansTheDefaultPort() throws {
        let workplace = try workplace()
        let got = try answers(
            workplace,
            [
                "printf p8443 | keychain internet set https://alice@x.example:8443",
                "keychain internet get x.example", "keychain internet get https://x.example",
                "keychain internet delete x.example", "keychain internet delete https://alice@x.example",
                "printf p443 | keychain internet set https://alice@x.example:443",
                "keychain internet get x.example", "keychain internet get https://x.example",
                "keychain internet get x.example:8443", "keychain internet get x.example:443",
                "printf bare | keychain internet set alice@x.example", "keychain internet get x.example",
                "keychain internet get alice@X.example", "keychain internet get https://x.example",
                "keychain internet delete x.example", "keychain internet list x.example",
                "keychain internet list https://x.example:443", "keychain internet delete https://x.example",
                "keychain internet list",
            ])
        #expect(got[0...5].joined() == "")
        #expect(got[6...9] == ["p443", "p443", "p8443", "p443"])
        // Two could be meant.
        #expect(got[11].isEmpty && got[14].isEmpty)
        #expect(got[12...13] == ["bare", "p443"])
        #expect(got[15] == "https://x.example\talice\nhttps://x.example:8443\talice\nx.example\talice\n")
        #expect(got[16] == "https://x.example\talice\n")
        #expect(got[18] == "https://x.example:8443\talice\nx.example\talice\n")
        let errors = try String(contentsOfFile: workplace.path + "/errors", encoding: .utf8)
        #expect(errors.contains("the host has 'https://x.example:8443' of 'alice': give the whole address"))
        #expect(
            errors.contains("2 passwords have this address: 'https://x.example' of 'alice', 'x.example' of 'alice'"))
    }

    /// Programs of macOS write the same address in other ways. It stays one item.
    @Test func anAddressOfAnotherProgramIsFound() throws {
        let workplace = try workplace()
        let got = try answers(
            workplace,
            [
                "keychain security add-internet-password -a alice -s Mac.Example -r htps -P 443 -p / -w one",
                "g get 'protocol=https\\nhost=mac.example\\n'",
                "g store 'protocol=https\\nhost=mac.example\\nusername=alice\\npassword=two\\n'",
                "keychain internet list | wc -l", "keychain security find-internet-password -s Mac.Example -P 443 -w",
                "g erase 'protocol=https\\nhost=mac.example\\nusername=alice\\npassword=one\\n'; keychain internet list | wc -l",
                "g erase 'protocol=https\\nhost=mac.example\\nusername=alice\\npassword=two\\n'; keychain internet list | wc -l",
            ])
        #expect(got[1...] == ["username=alice\npassword=one\n", "", "1\n", "two\n", "1\n", "0\n"])
    }

    /// A program that may not list the items of a daemon's vault stores and finds those that it names.
    @Test func aProgramThatMayNotListItsItemsUsesThem() throws {
        let workplace = try workplace()
        let outcome = try workplace.shell(
            #"""
            unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
            printf '{"version": 1, "trustOwnerTool": false, "rules": [{"executable": "%s", "groups": ["own"]}]}' \
                "$(readlink -f "$(command -v keychain)")" > entitlements; chmod 600 entitlements
            keychaind --socket "$KEYCHAIN_SOCKET" --home "$HOME/served" --entitlements "$HOME/entitlements" \
                --no-lock-signals --log error 2>daemon.log & first=$!
            trap '{ kill $first; wait $first; } 2>/dev/null' EXIT
            until keychain status >/dev/null 2>&1; do kill -0 $first || { cat daemon.log >&2; exit 99; }; sleep 0.1; done
            g() { printf '%b' "$2" | git-credential-keychain $1; echo "$1 $?"; }
            name='protocol=https\nhost=git.example\nusername=alice\n'
            g get "$name"; g store "${name}password=secret\n"; g get "$name"
            g get 'protocol=https\nhost=git.example:444\nusername=alice\n'
            keychain internet get https://alice@git.example:444; echo $?; keychain internet get https://alice@git.example; echo
            g erase "${name}password=secret\n"; g get "$name"
            """#)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "get 0", "store 0", "username=alice", "password=secret", "get 0", "get 0", "44", "secret", "erase 0",
                "get 0",
            ], "\(outcome.text)\(outcome.errors)")
    }

    // MARK: The end of a password

    @Test func anyEndOfAPasswordIsReadAgain() throws {
        let workplace = try workplace()
        let last = "253402300799"
        let ends: [(String, String?)] = [
            ("1e300", nil), ("nan", nil), ("inf", nil), ("-inf", nil), ("-1", nil), ("+1", nil), ("0x10", nil),
            ("", nil),
            (" 1", nil), ("0", nil), ("9999999999", "9999999999"), (last, last), ("253402300800", last),
            ("9223372036854775807", last), ("9223372036854775808", last), ("18446744073709551616", last),
            ("99999999999999999999", last), ("1", "1"),
        ]
        for (end, shown) in ends {
            let got = try answers(
                workplace,
                [
                    "g store 'protocol=https\\nhost=h\\nusername=u\\npassword=p\\npassword_expiry_utc=\(end)\\n'; echo $?",
                    "g get 'protocol=https\\nhost=h\\n'; echo $?", "keychain internet list --json",
                ])
            #expect(got[0] == "0\n" && got[1].hasSuffix("0\n"), "\(end)")
            #expect(got[1].contains("password_expiry_utc=\(shown ?? "")\n") == (shown != nil), "\(end)")
            #expect(got[1].contains("password=p\n") == (end != "1"), "\(end)")
            #expect(got[2].contains("\"expires\"") == (shown != nil), "\(end)")
        }
    }
}
