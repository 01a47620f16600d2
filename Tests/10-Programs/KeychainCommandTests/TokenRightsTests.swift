import Foundation
import TestSupport
import Testing

/// What programs see of the token with a daemon, and what `make install` brings.
@Suite struct TokenRightsTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    private var entitlements: String {
        let home = place.workplace.path
        return """
            {"version": 1, "rules": [
                {"executable": "\(home)/one", "groups": ["TEAM.one"], "rights": ["list"]},
                {"executable": "\(home)/two", "groups": ["TEAM.two"], "rights": ["list"]},
                {"executable": "\(home)/blind", "groups": ["TEAM.one"]}]}
            """
    }

    @Test func programsSeeTheKeysOfTheirGroups() throws {
        let outcome = try place.served(
            entitlements: entitlements,
            #"""
            for name in one two blind other; do cp /usr/bin/pkcs11-tool $name; done
            keychain key create first --group TEAM.one; keychain key create second --enclave --group TEAM.two
            keychain key create own --group "$HOME/other"; keychain key create mine
            labels() { "./$1" --module "$MODULE" -O --type privkey 2>>log | sed -n "s/ *label: */$1 /p"; }
            for name in one two blind other; do labels $name; done
            openssl dgst -sha256 -binary text > digest
            sign() { "./$1" --module "$MODULE" --sign -m ECDSA --id "$2" -i digest -o sig >>log 2>&1; echo "$1 $?"; }
            sign one "$(keyid first)"; sign two "$(keyid second)"; sign two "$(keyid first)"
            keychain audit | cut -f3,4 | grep ^used | cut -f2 | sort -u
            """#)
        let home = place.workplace.path
        place.expect(
            outcome,
            [
                "one first", "two second", "other own", "one 0", "two 0", "two 1", "\(home)/one", "\(home)/two",
            ])
    }

    /// No key is left that a locked vault cannot show, or that its maker cannot see.
    @Test func keysStayFound() throws {
        let outcome = try place.served(
            entitlements: entitlements,
            #"""
            for name in one blind; do cp /usr/bin/pkcs11-tool $name; done
            tool() { "./$1" --module "$MODULE" "${@:2}" >>log 2>&1; echo "$1 $2 $?"; }
            tool blind --keypairgen --key-type EC:prime256v1 --label unseen; keychain key list | grep -c unseen
            keychain key create first --group TEAM.one
            tool one --delete-object --type pubkey --label first
            printf right > right
            keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right 2>/dev/null
            end; begin
            "./one" --module "$MODULE" -O --type privkey 2>>log | sed -n 's/ *label: */locked /p'
            keychain unlock --passcode-fd 3 3<right
            tool one --delete-object --type privkey --label first; tool one --delete-object --type pubkey --label first
            keychain key list | grep -c first
            """#)
        place.expect(
            outcome,
            [
                "blind --keypairgen 1", "0", "one --delete-object 1", #"{"passcode":true}"#, "locked first",
                "one --delete-object 0", "one --delete-object 0", "0",
            ])
    }

    /// A child that begins anew and keeps its parent's handles hears that the daemon is gone, and not that the key is.
    @Test func aChildHearsThatTheDaemonIsGone() throws {
        let outcome = try place.served(
            entitlements: """
                {"version": 1, "rules": [{"executable": "\(Self.python)", "groups": ["TEAM.one"], "rights": ["list"]}]}
                """,
            #"""
            keychain key create first --group TEAM.one
            cat > peer.py <<'END'
            import os, signal, socket
            \#(try TokenPlace.block("import PyKCS11"))
            key = session.findObjects([(PyKCS11.CKA_CLASS, PyKCS11.CKO_PRIVATE_KEY)])[0]
            os.kill(int(os.environ['DAEMON']), signal.SIGTERM)
            while True:
                try: socket.socket(socket.AF_UNIX).connect(os.environ['KEYCHAIN_SOCKET'])
                except OSError: break
            def tell(what, action):
                try: action(); print(what, 'works', flush=True)
                except PyKCS11.PyKCS11Error as error: print(what, PyKCS11.CKR[error.value], flush=True)
            if os.fork() == 0:
                library.lib.C_Initialize()
                session = library.openSession(library.getSlotList()[0])
                tell('search', lambda: session.findObjects([]))
                tell('use', lambda: session.sign(key, bytes(32), PyKCS11.Mechanism(PyKCS11.CKM_ECDSA, None)))
                os._exit(0)
            os.wait()
            END
            DAEMON=$daemon /usr/bin/python3 peer.py
            """#)
        place.expect(outcome, ["search CKR_DEVICE_ERROR", "use CKR_DEVICE_ERROR"])
    }

    /// A lock is no hang and no lost key.
    @Test func locksAndPersons() throws {
        let outcome = try place.served(
            entitlements: """
                {"version": 1, "rules": [{"executable": "\(Self.python)", "groups": ["TEAM.one"], "rights": ["list"]}]}
                """,
            #"""
            printf right > right
            keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right 2>/dev/null
            keychain key create plain --group TEAM.one; keychain key create enclave --enclave --group TEAM.one
            keychain key create early --access after-first-unlock --group TEAM.one
            keychain key create person --enclave --require presence --group TEAM.one --passcode-fd 3 3<right
            cat > peer.py <<'END'
            import os, subprocess
            \#(try TokenPlace.block("import PyKCS11"))
            def find(kind):
                found = session.findObjects([(PyKCS11.CKA_CLASS, kind)])
                return {session.getAttributeValue(key, [PyKCS11.CKA_LABEL])[0]: key for key in found}
            def sign():
                for label, key in sorted(keys.items()):
                    try:
                        session.sign(key, bytes(32), PyKCS11.Mechanism(PyKCS11.CKM_ECDSA, None))
                        print(label, 'signs', flush=True)
                    except PyKCS11.PyKCS11Error as error:
                        print(label, PyKCS11.CKR[error.value], flush=True)
            keys = find(PyKCS11.CKO_PRIVATE_KEY)
            sign()
            subprocess.run(['keychain', 'lock'], check=True)
            print(sorted(find(PyKCS11.CKO_PUBLIC_KEY)), sorted(find(PyKCS11.CKO_PRIVATE_KEY)), flush=True)
            sign()
            subprocess.run('keychain unlock --passcode-fd 3 3<right', shell=True, check=True)
            print(sorted(find(PyKCS11.CKO_PRIVATE_KEY)), flush=True)
            sign()
            END
            printf right > answer
            KEYCHAIN_PINENTRY='\#(Self.pinentry)' /usr/bin/python3 peer.py
            """#)
        let all = "['early', 'enclave', 'person', 'plain']"
        let signing = ["early signs", "enclave signs", "person signs", "plain signs"]
        place.expect(
            outcome,
            [#"{"passcode":true}"#] + signing + [
                "\(all) \(all)", "early signs", "enclave CKR_USER_NOT_LOGGED_IN", "person CKR_USER_NOT_LOGGED_IN",
                "plain CKR_USER_NOT_LOGGED_IN", all,
            ] + signing)
    }

    /// A program at a terminal needs no dialog. A wrong passcode, and a person who cancels, have errors of their own.
    @Test func aPersonIsAskedAtTheTerminal() throws {
        let terminal = try place.servedAtTerminal(
            entitlements: """
                {"version": 1, "rules": [{"executable": "\(Self.python)", "groups": ["TEAM.one"], "rights": ["list"]}]}
                """,
            #"""
            printf right > right
            keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right 2>/dev/null
            keychain key create person --enclave --require presence --group TEAM.one --passcode-fd 3 3<right
            cat > peer.py <<'END'
            \#(try TokenPlace.block("import PyKCS11"))
            key, = session.findObjects([(PyKCS11.CKA_CLASS, PyKCS11.CKO_PRIVATE_KEY)])
            for turn in range(3):
                try:
                    session.sign(key, bytes(32), PyKCS11.Mechanism(PyKCS11.CKM_ECDSA, None))
                    print('signed', flush=True)
                except PyKCS11.PyKCS11Error as error: print(PyKCS11.CKR[error.value], flush=True)
            END
            /usr/bin/python3 peer.py
            """#)
        try terminal.expect("\(Self.python): use the key 'person'")
        func answer(_ typed: String) throws {
            try terminal.expect("Passcode: ")
            try terminal.waitUntilSilent()
            terminal.type(typed)
        }
        try answer("right\n")
        try terminal.expect("signed")
        // The end of the input.
        try answer("\u{4}")
        try terminal.expect("CKR_FUNCTION_CANCELED")
        for _ in 0..<3 { try answer("wrong\n") }
        try terminal.expect("CKR_PIN_INCORRECT")
        #expect(try terminal.finish() == 0, "\(terminal.screen)")
        #expect(!terminal.screen.contains("right"), "\(terminal.screen)")
    }

    private static let pinentry = URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer/pinentry.py"

    /// The daemon sees a script as its interpreter.
    private static let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path

    /// OpenSSL's way to read a key, for one, would leave a copy.
    @Test func noPartOfAnRSAKeyIsLeftInTheDaemon() throws {
        try #require(geteuid() == 0, "only root reads the memory of a daemon, which is not dumpable")
        let peer = URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer/pkcs11_keys.py"
        let outcome = try place.served(
            entitlements: #"{"version": 1, "rules": []}"#,
            #"DAEMON=$daemon python3 -B '\#(peer)' "$MODULE" leftovers && echo good"#)
        place.expect(outcome, ["good"])
    }

    /// What `make install` puts under a prefix, with p11-kit on the other side.
    @Test func anInstallationShowsTheTokenToEveryProgramWithPKCS11Kit() throws {
        let objects = URL(filePath: Worker.executable).deletingLastPathComponent().path
        // The script links with the compiler.
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let outcome = try place.shell(
            """
            install() { (cd '\(Repository.root.path)' && PATH='\(path)' && Scripts/install/install.sh "$@" >/dev/null); }
            keychain key create web
            install '\(objects)' "$HOME/prefix"; (cd prefix; ls lib/pkcs11; tail -n 1 share/p11-kit/modules/keychain.module)
            # No program of this name is on the path, so the module finds the one beside it.
            as=-m; [ "$(/usr/bin/id -u)" = 0 ] || as=-rm
            PATH=/usr/bin:/bin unshare $as sh -c 'mount --bind prefix/share/p11-kit/modules /usr/share/p11-kit/modules
                p11tool --list-tokens | grep token=keychain; p11tool --list-privkeys pkcs11:token=keychain | grep -c Label: '
            DESTDIR="$HOME/image" install '\(objects)' "$HOME/image/usr"
            tail -n 1 image/usr/share/p11-kit/modules/keychain.module
            DESTDIR="$HOME/image" install --remove "$HOME/image/usr"; find image ! -type d
            """)
        let home = place.workplace.path
        place.expect(
            outcome,
            [
                "libkeychain-pkcs11.so", "module: \(home)/prefix/lib/pkcs11/libkeychain-pkcs11.so",
                "...token=keychain", "1", "module: /usr/lib/pkcs11/libkeychain-pkcs11.so",
            ])
    }
}
