import Foundation
import TestSupport
import Testing

/// `keychain-browser` and a second implementation of the extension's side, in Python, with PyNaCl.
@Suite struct BrowserTests {
    private static let peers = URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer"

    /// Runs a scenario of `browser_peer.py`, and returns its lines.
    ///
    /// - Parameter before: Commands of a shell that come first.
    private func lines(_ scenario: String, before: String = "keychain init > made") throws -> [String] {
        let workplace = try Workplace()
        let outcome = try workplace.shell(
            """
            export KEYCHAIN_PINENTRY='\(Self.peers)/pinentry.py'
            \(before)
            /usr/bin/python3 -B '\(Self.peers)/browser_peer.py' \(scenario)
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    private static let day = [
        "hash 64", "unknown 8", "before 8", "associate python3.11", "logins [('alice', 'swordfish')]",
        "again [('alice', 'swordfish')] 2", "none 15", "generated 20", "new True", "kept [('carol', 'first')]",
        "changed True", "now [('carol', 'second')]", "groups ['keychain']", "group 17", "autotype 12", "passkey 12",
        "end (0, '')", "known python3.11", "later [('alice', 'swordfish')]", "end (0, '')",
    ]

    /// The name of a browser is that of its program.
    private func withoutVersion(_ lines: [String]) -> [String] {
        lines.map { $0.replacing(/python3\.\d+/, with: "python3.11") }
    }

    @Test func aBrowserGetsStoresAndChangesLogins() throws {
        let lines = try lines(
            "everything",
            before: """
                echo swordfish | keychain internet set https://alice@example.org
                echo herring | keychain internet set https://bob@login.example.org
                """)
        #expect(withoutVersion(lines) == Self.day)
    }

    /// The daemon takes the program under its other name for the owner's tool, too.
    @Test func aDaemonServesTheBrowser() throws {
        let lines = try lines(
            "everything",
            before: """
                unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
                keychaind --home "$HOME/served" --entitlements "$HOME/none" --no-lock-signals --log error \
                  --socket "$KEYCHAIN_SOCKET" 2>daemon.log & daemon=$!
                trap '{ kill $daemon; wait $daemon; } 2>/dev/null' EXIT
                until keychain list >/dev/null 2>&1; do kill -0 $daemon || exit 99; sleep 0.1; done
                echo swordfish | keychain internet set https://alice@example.org
                """)
        #expect(withoutVersion(lines) == Self.day)
    }

    @Test func aLoginGoesToItsOwnSite() throws {
        let none = "15"
        let noPage = "14"
        let expected: [(page: String, accounts: String)] = [
            ("https://example.org/", "bare main plain"), ("https://example.org:443/a?b#c", "bare main plain"),
            ("https://EXAMPLE.org", "bare main plain"), ("https://example.org./", none),
            // Those of its own host come first.
            ("https://www.example.org/", "www bare main plain"),
            ("https://a.www.example.org/", "www bare main plain"),
            ("https://example.org:8443/", "port"), ("https://sub.example.org:8443/", "port"),
            ("https://example.org:8444/", none),
            // What belongs to an encrypted page goes to no other one.
            ("http://example.org/", "plain"), ("http://example.org:8080/", "plain-port"),
            ("http://www.example.org/", "plain"), ("https://notexample.org/", none),
            // Below these names are sites of different people.
            ("https://other.co.uk/", none), ("https://evil.github.io/", none), ("https://mine.github.io/", "mine"),
            ("https://sub.mine.github.io/", "mine"), ("http://localhost/", "local"), ("https://localhost/", "local"),
            ("http://a.localhost/", none), ("https://127.0.0.1/", "numbers"), ("https://127.0.0.1.example/", none),
            ("https://[::1]/", "six"), ("https://xn--bcher-kva.example/", "letters"),
            (#"https://b\u00fccher.example/"#, "letters"), (#"https://www.b\u00fccher.example/"#, "letters"),
            ("https://pathway.example/other", "path"), ("https://first.example/", "other"),
            ("https://second.example/", "other"), ("http://second.example/", none), ("https://third.example/", none),
            ("https://a.city.kobe.jp/", none), ("https://x.y.kobe.jp/", none), ("https://org/", none),
            // Addresses that look like those of another site.
            ("https://example.org@evil.example/", none), ("https://evil.example/?https://example.org/", none),
            (#"https://evil.example\\@example.org/"#, none), (#"https://example.org\n.evil.example/"#, noPage),
            (#"https://example.org\u0000.evil.example/"#, noPage), ("file:///etc/passwd", noPage),
            ("ftp://example.org/", noPage), ("moz-extension://example.org/", noPage), ("https://", noPage),
            ("example.org", noPage), ("https:///", noPage), ("https://aa", noPage),
            ("https://example.org:99999999999999999999/", noPage), ("https://example.org:0/", noPage),
            ("https://user:password@example.org/", noPage),
        ]
        #expect(try lines("matches") == expected.map { "\"\($0.page)\" \($0.accounts)" } + ["end 0"])
    }

    @Test func aPersonIsAskedOnceForEachSite() throws {
        #expect(
            try lines("consent") == [
                "refused 6", "associated True", "late 6", "refused 6 6 4", "other [('bob', 'x')] 5", "still 6 5",
                "large 0", "lines 1 True", "end True", "later [('bob', 'x')] 7",
                "listed ['https://other.example', 'https://large.example', 'https://lines.example']", "asked 6 8",
                "forgotten 8 8 8", "nobody 6",
            ])
    }

    @Test func aChangeKeepsTheItemAndItsHistory() throws {
        #expect(
            try lines("changes") == [
                "other page 18", "no such 18", "hostile 18", "empty 13", "no page 14", "password done", "account done",
                "again done", "now [('alicia', 'fourth')]", "generic done [('bob', 'new')]", "color True", "history 1",
                "port done [('', 'x')] https://new.example:8443",
            ])
    }

    @Test func oneTimeCodesGoWithTheirLogins() throws {
        #expect(
            try lines("codes") == [
                "alice True 6", "bob 18 False", "counter False 755224 287082", "after 359152", "unknown 18", "other 18",
            ])
    }

    @Test func aLockedVaultGivesNothing() throws {
        #expect(
            try lines("locked") == [
                "locked 1 1", "wrong 6", "refused 6", "unlocked 64", "told {'action': 'database-unlocked'}",
                "associated True GETPIN", "logins [('alice', 'x')]", "bank [('ann', 'gold')] 2",
                "bank [('ann', 'gold')] 1", "bank 6", "lock 1", "told {'action': 'database-locked'}", "locked 1 1",
                "end 0",
            ])
    }

    @Test func aQuestionHoldsNothingElseUp() throws {
        #expect(try lines("while-asked") == ["meanwhile 64", "then 1", "end (0, '')"])
    }

    @Test func hostileMessagesAreRefused() throws {
        let start = "1 a message "
        #expect(
            try lines("hostile") == Array(
                repeating: "64 a browser starts this program for the extension KeePassXC-Browser", count: 4)
                + [0, 1_048_577, 4_294_967_295].map { "\(start)of \($0) bytes: a message has 1 to 1048576" }
                + [start + "that ends too early", "1 a length without a message", start + "that ends too early"]
                + Array(repeating: start + "that is not a JSON object", count: 5) + [
                    "12 12 12 12 12",
                    "{'action': 'get-logins', 'error': \"The browser's public key is not known; connect again\", "
                        + "'errorCode': '3', 'requestID': 'abcd'}",
                    "9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 ", "first True replayed 4", "reflected 4", "largest 64",
                    "4 4 4 4 13 13 3 3 12 12 4", "not JSON 4", "8 8 8 8 8 8 8 8 8", "former keys 3 4", "still 64",
                    "dialogs 0 (0, '')",
                ])
    }

    // MARK: Browsers

    /// Runs a browser in a home in which the program is installed and integrated.
    private func browser(_ name: String) throws -> ProgramOutcome {
        let workplace = try Workplace()
        return try workplace.shell(
            """
            export KEYCHAIN_PINENTRY='\(Self.peers)/pinentry.py' PATH="$HOME/installed:$PATH"
            mkdir installed; cp "$(readlink -f bin/keychain)" installed/keychain
            ln -s keychain installed/keychain-browser
            keychain integrate \(name) --yes > shown && timeout 200 /usr/bin/python3 -B '\(Self.peers)/\(name)_peer.py' \
              || tail -n 20 \(name).log >&2
            """)
    }

    /// Firefox with the extension, both as Debian has them.
    @Test func firefoxFillsAForm() throws {
        let outcome = try browser("firefox")
        #expect(
            outcome.text.split(separator: "\n") == [
                "associated 2", "filled ['alice', 'swordfish']", "code 6", "stored created", "status True",
                "generated 20", "browsers 1", "kept anchovy", "4 stored", "exchanged 4", "locked True",
            ], "\(outcome.errors)")
    }

    @Test func chromiumFillsAForm() throws {
        let outcome = try browser("chromium")
        #expect(
            outcome.text.split(separator: "\n") == [
                "extension oboonakemofpalcgghocfoadofidjkkk", "associated 2", "filled ['alice', 'swordfish']",
                "stored created", "kept anchovy",
            ], "\(outcome.errors)")
    }

    // MARK: Manifests

    /// The manifest is for the program beside the one that runs, and everybody may read it, as browsers expect.
    @Test(arguments: [
        ("firefox", ".mozilla/native-messaging-hosts"), ("chromium", ".config/chromium/NativeMessagingHosts"),
        ("chrome", ".config/google-chrome/NativeMessagingHosts"),
        ("brave", ".config/BraveSoftware/Brave-Browser/NativeMessagingHosts"),
        ("edge", ".config/microsoft-edge/NativeMessagingHosts"), ("vivaldi", ".config/vivaldi/NativeMessagingHosts"),
    ])
    func aManifestIsWrittenAndTakenBack(_ browser: String, _ folder: String) throws {
        let workplace = try Workplace()
        let outcome = try workplace.shell(
            """
            umask 077; file=\(folder)/org.keepassxc.keepassxc_browser.json
            keychain integrate \(browser) --yes > shown; stat -c %a $file
            python3 -c 'import json, sys; m = json.load(open(sys.argv[1])); print(m["name"], m["type"],
              m["path"].split("/")[-1], *m.get("allowed_extensions", []), *m.get("allowed_origins", []))' $file
            keychain integrate | grep '^\(browser)\t' | cut -f2
            keychain integrate \(browser) --yes --remove > shown; ls \(folder)
            echo '{}' > $file; keychain integrate \(browser) --yes || cat $file
            """)
        let extensions =
            browser == "firefox"
            ? "keepassxc-browser@keepassxc.org"
            : "chrome-extension://oboonakemofpalcgghocfoadofidjkkk/ chrome-extension://pdffhmdngciaglkoonimfcmckehcpafo/"
        #expect(
            outcome.text == "644\norg.keepassxc.keepassxc_browser stdio keychain-browser \(extensions)\nyes\n{}\n",
            "\(outcome.errors)")
        #expect(outcome.errors.contains("which is in the way: change it with an editor"))
    }
}
