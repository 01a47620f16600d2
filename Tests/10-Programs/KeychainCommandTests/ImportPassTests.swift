import Foundation
import TestSupport
import Testing

/// Stores of the real pass and gopass, with keys of gpg and age that are made for the test.
@Suite struct ImportPassTests {
    /// gpg's agent listens below its home, whose path has to be short.
    private static let gpg = #"""
        export GNUPGHOME=$(mktemp -d /tmp/kp.XXXXXX); chmod 700 "$GNUPGHOME"
        trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
        gpg --batch --quiet --passphrase '' --quick-generate-key 'Test <test@example.org>' default default never 2>/dev/null
        git config --global user.name T; git config --global user.email test@example.org
        """#

    private func run(_ script: String) throws -> ProgramOutcome {
        try Workplace().shell(Self.gpg + "\n" + script)
    }

    @Test func aStoreOfPass() throws {
        let outcome = try run(
            #"""
            pass init test@example.org >/dev/null
            printf 'secret one\nlogin: alice\nurl: https://example.com/login\npin: 1234\nA sentence: with more words than a name has\notpauth://totp/Ex:alice?secret=JBSWY3DPEHPK3PXP&issuer=Ex\n' | pass insert -m Work/example >/dev/null
            printf 'only a password\n' | pass insert -m plain >/dev/null
            printf 'pw\r\nuser: bob\r\n\r\nline 1\r\nline 2\r\n' | pass insert -m a/b/windows >/dev/null
            printf 'broken' > "$HOME/.password-store/broken.gpg"; ln -s /etc/passwd "$HOME/.password-store/link.gpg"
            keychain import pass --dry-run; echo "status $?"
            keychain import pass 2>&1 | grep -c '^not taken.broken'
            echo "$(keychain get plain) $(keychain internet get https://alice@example.com) $(keychain get windows bob)"
            keychain otp example.com --json | grep -c code
            keychain export --format bitwarden --plain 2>/dev/null | grep -o -e '"line 1[^"]*"' -e '"1234"' -e '"A sentence[^"]*"' -e '"a/b"'
            keychain import pass | tail -1
            printf 'changed\n' | pass insert -m -f plain >/dev/null
            keychain import pass 2>&1 | grep -c 'different'; keychain import pass --replace >/dev/null 2>&1; keychain get plain
            grep -rl 'only a password' "$HOME" /tmp/kp.* 2>/dev/null | grep -v -e '/bin/' | head -3
            """#)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        let expected = [
            "would be stored\twindows\tbob\t", "would be stored\tplain\t\t", "would be stored\texample\talice\t",
        ]
        for line in expected { #expect(lines.contains(line), "\(outcome.text)\(outcome.errors)") }
        #expect(lines.first { $0.hasPrefix("not taken\tbroken\t\t") }?.contains("gpg") == true, "\(outcome.text)")
        #expect(
            Array(lines.dropFirst(4)) == [
                "3 would be stored, 1 not taken", "status 1", "1", "only a password secret one pw", "1", #""a/b""#,
                #""1234""#, #""A sentence""#, #""line 1\nline 2""#, "3 here already, 1 not taken", "2", "changed",
            ], "\(outcome.text)\(outcome.errors)")
    }

    @Test func aStoreOfGopass() throws {
        let outcome = try run(
            #"""
            mkdir -p .local/share/gopass/stores
            # The program of Debian, which has an editor write a secret of several lines.
            printf '#!/bin/sh\ncp input "$1"\n' > editor; chmod +x editor
            insert() { cat > input; EDITOR=$HOME/editor PASSWORD_STORE_DIR=$HOME/.local/share/gopass/stores/root gopass insert -m "$1" >/dev/null; }
            PASSWORD_STORE_DIR=$HOME/.local/share/gopass/stores/root gopass init test@example.org >/dev/null; mkdir -p .local/share/gopass/stores/root/team
            printf 'pw one\nusername: alice\nwebsite: https://a.example\ntotp: JBSWY3DPEHPK3PXP\n' | insert team/a
            printf 'pw two\n---\nuser: "bob"\nnested:\n  x: 1\n' | insert team/yaml
            printf 'GOPASS-SECRET-1.0\nPassword: pw three\nUser: carl\n\nold form\n' | insert mime
            keychain import pass
            echo "$(keychain internet get https://alice@a.example) $(keychain get yaml bob) $(keychain get mime carl)"
            keychain otp a.example --json | grep -c code
            keychain export --format bitwarden --plain 2>/dev/null | grep -o -e '"old form"' -e '"nested:[^"]*"'
            """#)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "3 stored", "pw one pw two pw three", "1", #""old form""#, #""nested:\n  x: 1""#,
            ], "\(outcome.text)\(outcome.errors)")
    }

    @Test func filesOfAge() throws {
        let outcome = try Workplace().shell(
            #"""
            mkdir -p store/x; age-keygen -o key.txt 2>/dev/null
            printf 'pw\nuser: dora\n' | age -r "$(age-keygen -y key.txt)" > store/x/one.age
            keychain import pass --store store; echo "status $?"
            keychain import pass --store store --identity key.txt; echo "$(keychain get one dora)"
            /usr/bin/python3 -c 'import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp("keychain", ["keychain", "import", "pass", "--store", "store", "--identity", "key.txt"])'
            keychain import pass --store nowhere; echo "status $?"
            mkdir empty; PASSWORD_STORE_DIR=$HOME/empty keychain import pass; echo "status $?"
            """#)
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "not taken\tx/one\t\tage needs an identity: name it with --identity", "1 not taken", "status 1",
                "1 stored",
                "pw", "1 here already", "status 44", "status 44",
            ], "\(outcome.text)\(outcome.errors)")
        #expect(outcome.errors.contains("nowhere is no folder that can be read: name the store with --store"))
        #expect(outcome.errors.contains("has no file that ends in .gpg or .age"))
    }
}
