import Foundation
import TestSupport
import Testing

/// The helpers of git, docker and cargo, started as those start them.
@Suite struct CredentialHelperTests {
    /// A home with the helpers in the path, under their names.
    private func workplace() throws -> Workplace {
        let workplace = try Workplace()
        let made = try workplace.shell(
            """
            mkdir -p "$HOME/bin"; keychain=$(command -v keychain)
            for name in git docker cargo; do ln -s "$keychain" "$HOME/bin/$name-credential-keychain"; done
            """)
        try #require(made.status == 0, "\(made.errors)")
        return workplace
    }

    private func run(_ workplace: Workplace, _ script: String) throws -> ProgramOutcome {
        try workplace.shell(
            "cd \"$HOME\"; export PATH=$HOME/bin:$PATH GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=/bin/false\n" + script)
    }

    /// Lines, whose order the helper chooses.
    private func lines(_ outcome: ProgramOutcome) -> Set<String> {
        Set(outcome.text.split(separator: "\n").map(String.init))
    }

    // MARK: git

    @Test func gitKeepsFindsAndForgets() throws {
        let workplace = try workplace()
        let setup = try run(
            workplace, "git config --global credential.helper keychain; git credential-keychain get </dev/null")
        #expect(setup.text == "" && setup.status == 0, "\(setup.errors)")
        // Nothing is there, and no vault is made.
        let nothing = try run(
            workplace, "printf 'protocol=https\\nhost=example.org\\n' | git credential fill; ls -a $HOME/.local")
        #expect(nothing.status != 0)
        let approve = { (text: String) in "printf '\(text)' | git credential approve\n" }
        let kept = try run(
            workplace,
            approve("protocol=https\\nhost=example.org\\nusername=alice\\npassword=swordfish=\\n")
                + approve("protocol=https\\nhost=example.org\\nusername=bob\\npassword=herring\\n")
                + approve("protocol=http\\nhost=example.org:8080\\nusername=carol\\npassword=other\\n")
                + "printf 'protocol=https\\nhost=example.org\\nusername=alice\\n' | git credential fill")
        #expect(lines(kept).contains("password=swordfish="), "\(kept.text)\(kept.errors)")
        let port = try run(workplace, "printf 'protocol=http\\nhost=example.org:8080\\n' | git credential fill")
        #expect(lines(port).isSuperset(of: ["username=carol", "password=other"]))
        // Without a port it is another server, with another protocol, too.
        for other in ["protocol=https\\nhost=example.org:8080", "protocol=http\\nhost=other.org"] {
            #expect(try run(workplace, "printf '\(other)\\n' | git credential fill").status != 0)
        }
        // A distinct password is not the one that was refused.
        let reject = { (text: String) in "printf '\(text)' | git credential reject\n" }
        let still = try run(
            workplace,
            reject("protocol=https\\nhost=example.org\\nusername=alice\\npassword=another\\n")
                + reject("protocol=https\\nhost=example.org\\nusername=bob\\npassword=herring\\n")
                + "printf 'protocol=https\\nhost=example.org\\n' | git credential fill; keychain internet list")
        #expect(lines(still).contains("password=swordfish="))
        #expect(
            lines(still).contains("https://example.org\talice") && !lines(still).contains("https://example.org\tbob"))
        let erased = try run(
            workplace,
            reject("protocol=https\\nhost=example.org\\nusername=alice\\n") + "keychain internet list")
        #expect(erased.text == "http://example.org:8080\tcarol\n")
        let empty = try run(
            workplace,
            "printf 'protocol=https\\nhost=sso.org\\nusername=\\npassword=\\n' | git-credential-keychain store; "
                + "printf 'protocol=https\\nhost=sso.org\\n' | git-credential-keychain get")
        #expect(lines(empty) == ["username=", "password="], "\(empty.errors)")
    }

    /// What newer versions of git add, in the helper's own protocol.
    @Test func gitTokensAndExpiry() throws {
        let workplace = try workplace()
        let store =
            "protocol=https\\nhost=example.org\\nusername=alice\\npassword=now\\npassword_expiry_utc=9999999999\\n"
            + "oauth_refresh_token=later\\n\\n"
        let got = try run(
            workplace,
            "printf '\(store)' | git-credential-keychain store; "
                + "printf 'protocol=https\\nhost=example.org\\n' | git-credential-keychain get")
        #expect(
            lines(got) == [
                "username=alice", "password=now", "password_expiry_utc=9999999999", "oauth_refresh_token=later",
            ], "\(got.errors)")
        // After its end there is no password any more, but the token for the next one.
        let over = try run(
            workplace,
            "printf '\(store.replacing("9999999999", with: "1000000000"))' | git-credential-keychain store; "
                + "printf 'protocol=https\\nhost=example.org\\n' | git-credential-keychain get")
        #expect(
            lines(over) == ["username=alice", "password_expiry_utc=1000000000", "oauth_refresh_token=later"],
            "\(over.errors)")
        // A credential that is no password goes to a git that knows such ones, and an ephemeral one is not kept.
        let bearer = try run(
            workplace,
            """
            printf 'protocol=https\\nhost=api.org\\nauthtype=Bearer\\ncredential=abc\\n' | git-credential-keychain store
            printf 'protocol=https\\nhost=b.org\\nauthtype=Bearer\\ncredential=abc\\nephemeral=1\\n' |
                git-credential-keychain store
            printf 'protocol=https\\nhost=api.org\\n' | git-credential-keychain get
            printf 'protocol=https\\nhost=b.org\\ncapability[]=authtype\\n' | git-credential-keychain get
            printf 'protocol=https\\nhost=api.org\\ncapability[]=authtype\\n' | git-credential-keychain get
            printf 'protocol=https\\nhost=api.org\\n' | git-credential-keychain a-later-action
            printf 'host=api.org\\n' | git-credential-keychain get
            """)
        #expect(lines(bearer) == ["capability[]=authtype", "authtype=Bearer", "credential=abc"], "\(bearer.errors)")
    }

    // MARK: docker

    @Test func docker() throws {
        let workplace = try workplace()
        let outcome = try run(
            workplace,
            #"""
            d=docker-credential-keychain
            $d list; echo https://index.docker.io/v1/ | $d get; echo $?
            echo '{"ServerURL":"https://index.docker.io/v1/","Username":"alice","Secret":"sword fish"}' | $d store
            echo '{"ServerURL":"localhost:5000","Username":"bob","Secret":"\"quoted\""}' | $d store
            echo '{"ServerURL":"localhost:5000","Username":"carol","Secret":"new"}' | $d store
            echo https://index.docker.io/v1/ | $d get; printf localhost:5000 | $d get; $d list
            keychain internet list
            echo localhost:5000 | $d erase; echo localhost:5000 | $d erase; echo $?; $d list
            echo '{"ServerURL":""}' | $d store; echo '{"ServerURL":"","Username":"a","Secret":"b"}' | $d store; echo | $d get
            """#)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "{}", "credentials not found in native keychain", "1",
                #"{"Secret":"sword fish","ServerURL":"https://index.docker.io/v1/","Username":"alice"}"#,
                #"{"Secret":"new","ServerURL":"localhost:5000","Username":"carol"}"#,
                #"{"https://index.docker.io/v1/":"alice","localhost:5000":"carol"}"#,
                "https://index.docker.io/v1\talice", "https://localhost:5000\tcarol",
                "credentials not found in native keychain", "1", #"{"https://index.docker.io/v1/":"alice"}"#,
                "the credentials are not JSON with ServerURL, Username and Secret", "no credentials server URL",
                "no credentials server URL",
            ], "\(outcome.errors)")
    }

    // MARK: cargo

    @Test func cargo() throws {
        let workplace = try workplace()
        let registry = #""registry":{"index-url":"sparse+https://index.crates.io/","name":"crates-io"}"#
        let outcome = try run(
            workplace,
            """
            cargo-credential-keychain --cargo-plugin <<'END'
            {"v":1,\(registry),"kind":"get","operation":"read","args":[]}
            {"v":1,\(registry),"kind":"login","token":"swordfish","args":[]}
            {"v":1,\(registry),"kind":"get","operation":"publish","args":[]}
            {"v":1,\(registry),"kind":"logout","args":[]}
            {"v":1,\(registry),"kind":"logout","args":[]}
            {"v":1,\(registry),"kind":"something","args":[]}
            nonsense
            END
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                #"{"v":[1]}"#, #"{"Err":{"kind":"not-found"}}"#, #"{"Ok":{"kind":"login"}}"#,
                #"{"Ok":{"cache":"session","kind":"get","operation_independent":true,"token":"swordfish"}}"#,
                #"{"Ok":{"kind":"logout"}}"#, #"{"Err":{"kind":"not-found"}}"#,
                #"{"Err":{"kind":"operation-not-supported"}}"#,
                #"{"Err":{"caused-by":[],"kind":"other","message":"the request is not of version 1"}}"#,
            ], "\(outcome.errors)")
        #expect(outcome.status == 0)
    }

    // MARK: The command

    @Test func internetPasswords() throws {
        let workplace = try workplace()
        let outcome = try run(
            workplace,
            """
            echo swordfish | keychain internet set https://alice@example.org:8443/mail
            echo herring | keychain internet set example.org --account bob
            echo anchovy | keychain internet set https://carol@example.org
            keychain internet get https://example.org:8443/mail; echo
            keychain internet get example.org; echo " $?"; keychain internet delete https://carol@example.org
            keychain internet get example.org --account bob --json
            keychain internet set https://alice:secret@example.org </dev/null; echo $?
            keychain internet delete example.org --account bob; keychain internet list --json
            printf 'protocol=https\\nhost=example.org:8443\\npath=mail\\n' | git-credential-keychain get
            keychain security find-internet-password -s example.org -w
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "swordfish", " 1", #"{"account":"bob","base64":"aGVycmluZw==","url":"example.org","utf8":"herring"}"#,
                "64",
                #"[{"account":"alice","group":"keychain","label":"https://example.org:8443/mail","url":"https://example.org:8443/mail"}]"#,
                "username=alice", "password=swordfish", "swordfish",
            ], "\(outcome.errors)")
        #expect(
            outcome.errors.contains(
                "2 passwords have this address: 'example.org' of 'bob', 'https://example.org' of 'carol'"))
        #expect(!outcome.errors.contains("secret@"))
    }

    @Test func clouds() throws {
        let workplace = try workplace()
        let outcome = try run(
            workplace,
            """
            echo swordfish | keychain set aws work --attribute access-key-id=AKIAEXAMPLE
            echo token | keychain set cluster.example.org admin --expires 2999-01-01
            echo herring | keychain set aws bare
            keychain aws work; keychain kube cluster.example.org admin; keychain aws bare; echo $?; keychain aws other; echo $?
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                #"{"AccessKeyId":"AKIAEXAMPLE","SecretAccessKey":"swordfish","Version":1}"#,
                #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"expirationTimestamp":"2999-01-01T00:00:00Z","token":"token"}}"#,
                "1", "44",
            ], "\(outcome.errors)")
    }

    // MARK: What asks

    /// git and ssh-add start the program instead of asking at a terminal.
    @Test func askpass() throws {
        let workplace = try workplace()
        let outcome = try run(
            workplace,
            """
            ln -s "$(command -v keychain)" bin/keychain-askpass
            export GIT_ASKPASS=$HOME/bin/keychain-askpass SSH_ASKPASS=$HOME/bin/keychain-askpass
            export SSH_ASKPASS_REQUIRE=force
            printf swordfish | keychain internet set https://alice@example.org
            printf herring | keychain internet set ssh://bob@server.example.org
            printf 'protocol=https\nhost=example.org\n' | git credential fill
            printf 'protocol=https\nhost=other.org\n' | git credential fill >none 2>&1; grep -c 'internet set https://' none
            ssh-keygen -q -t ed25519 -N 'pass phrase' -C key -f key; printf 'pass phrase' | keychain set OpenSSH "$PWD/key"
            eval "$(ssh-agent)" >shown; ssh-add -q "$PWD/key" && ssh-add -L | cut -d' ' -f3; kill $SSH_AGENT_PID
            for question in "bob@server.example.org's password: " '(bob@server.example.org) Password: ' \
                "Enter passphrase for key '$PWD/key': " 'Enter passphrase for key: ' 'Enter passphrase for "bin/../key": ' \
                'Password for "https://alice@example.org"' 'Username for "https://example.org"' 'Are you sure you want to continue connecting (yes/no)? ' '' "'s password: "
            do keychain-askpass "$question"; echo $?; done
            mkdir other; cd other; keychain-askpass 'Enter passphrase for key: ' || echo $?
            eval "$(ssh-agent)" >shown; cd ..; ssh-add -q key && ssh-add -L | cut -d' ' -f3; kill $SSH_AGENT_PID
            keychain-askpass "Password for 'https://b%40c@none.example:444/p': "
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "protocol=https", "host=example.org", "username=alice", "password=swordfish", "1", "key",
                "herring", "0", "herring", "0", "pass phrase", "0", "pass phrase", "0", "pass phrase", "0", "swordfish",
                "0",
                "alice", "0", "36", "36", "36", "44", "key",
            ], "\(outcome.text)\(outcome.errors)")
        #expect(
            outcome.errors.contains(
                "there is no passphrase of the key file 'key': store it with `keychain set OpenSSH /"))
        #expect(
            outcome.errors.contains("there is no password for https://b%40c@none.example:444/p: store the password"))
    }

    // MARK: Python

    /// keyring's own tests of a backend, and a locked vault.
    @Test func pythonsKeyring() throws {
        let workplace = try workplace()
        let folder =
            Repository.file("Integrations/python-keyring").path
        let outcome = try run(
            workplace,
            """
            export PYTHONPATH='\(folder)' PYTHONDONTWRITEBYTECODE=1 PYTHON_KEYRING_BACKEND=keyring_keychain.Keyring
            /usr/bin/python3 -m pytest -q -p no:cacheprovider '\(folder)' | grep -o '[0-9]* passed'
            /usr/bin/python3 -c "import keyring; keyring.set_password('host', 'alice', 'swordfish')"; keychain get host alice; echo
            echo 'long enough' > passcode; keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3<passcode 2>none
            /usr/bin/python3 -m keyring get host alice 2>&1 | grep -o 'KeyringLocked: keychain: the vault is locked'
            /usr/bin/python3 -m keyring get none alice; echo $?
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "15 passed", "swordfish", "KeyringLocked: keychain: the vault is locked", "1",
            ], "\(outcome.text)\(outcome.errors)")
    }

    // MARK: Files of tokens

    /// The forms of the guide, with programs that show what they read.
    @Test func npmAndNetrc() throws {
        let workplace = try workplace()
        let guide = try Repository.text("Documentation/Use/Helpers.md")
        let commands = guide.split(separator: "\n").filter { $0.contains("{{ keychain") || $0.contains("--template N") }
        #expect(commands.count == 4)
        let outcome = try run(
            workplace,
            """
            printf '#!/bin/sh\\ncat "$NPM_CONFIG_USERCONFIG"' > bin/npm; printf '#!/bin/sh\\ncat "$2"' > bin/curl; chmod +x bin/npm bin/curl
            printf swordfish | keychain set npm ci; printf herring | keychain set api.example.org ci
            """ + "\n" + commands.joined(separator: "\n"))
        #expect(
            outcome.text == """
                //registry.npmjs.org/:_authToken=swordfish
                machine api.example.org login ci password herring

                """, "\(outcome.errors)")
    }

    // MARK: systemd

    /// systemd's own program opens the credential again.
    @Test func encryptedCredential() throws {
        let workplace = try workplace()
        let outcome = try run(
            workplace,
            """
            printf swordfish | keychain set postgres app; head -c 500000 /dev/urandom > large
            keychain set postgres large --raw < large
            keychain credential postgres app --name db --with-key host > db.cred; echo $?
            grep -c swordfish db.cred; systemd-creds decrypt --name=db db.cred -; echo
            systemd-creds decrypt --name=other db.cred - 2>none || echo refused
            keychain credential postgres large --with-key host | systemd-creds decrypt --name=large - - | cmp - large && echo same
            keychain credential postgres none > none; echo $?; keychain credential postgres app --name a/b > none; echo $?
            PATH=${PATH%%:/usr/bin*} keychain credential postgres app > none; echo $?
            keychain credential postgres app --name db --with-key host --pretty | grep -c '^SetCredentialEncrypted=db:'
            keychain credential postgres app --name db --with-key host --not-after 2001-01-01 2>none > none; echo $?
            keychain credential postgres app --name db --with-key host --not-after +1y | systemd-creds decrypt --name=db - -
            """)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "0", "0", "swordfish", "refused", "same", "44", "64", "127", "1", "1", "swordfish",
            ], "\(outcome.text)\(outcome.errors)")
    }
}
