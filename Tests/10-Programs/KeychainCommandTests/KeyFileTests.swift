import TestSupport
import Testing

/// `keychain import` with the key files of OpenSSH and OpenSSL, in every form that these write.
@Suite struct KeyFileTests {
    private func run(_ script: String) throws -> ProgramOutcome {
        try Workplace().shell("set -e; printf 'correct horse' > phrase\n" + script)
    }

    /// The public key is the one that `ssh-keygen` wrote beside the private one.
    @Test(
        arguments: ["ed25519", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521", "rsa -b 2048"], ["", "correct horse"])
    func openSSH(kind: String, phrase: String) throws {
        let outcome = try run(
            """
            ssh-keygen -q -t \(kind) -N '\(phrase)' -a 2 -C '' -f id
            keychain import id --passphrase-fd 3 3< phrase
            keychain key public id --format openssh | cut -d' ' -f1,2 > ours; cut -d' ' -f1,2 id.pub | cmp - ours
            keychain export id --private > id.pem; chmod 600 id.pem; ssh-keygen -y -f id.pem 2>/dev/null | cut -d' ' -f1,2 > again || true
            [ '\(kind)' = ed25519 ] || cmp ours again
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "private key\tid\tstored\n")
    }

    /// What is wrong with a file is said, and nothing is stored.
    @Test func damagedOpenSSH() throws {
        let outcome = try run(
            """
            ssh-keygen -q -t ed25519 -N 'correct horse' -a 2 -C '' -f id; echo wrong > wrong
            keychain import id --passphrase-fd 3 3< wrong || echo $?
            sed '3d' id > short; keychain import short --passphrase-fd 3 3< phrase || echo $?
            /usr/bin/python3 - <<'END'
            import base64
            blob = bytearray(base64.b64decode(''.join(open('id').read().split('\\n')[1:-2])))
            # After the magic, two names and a salt of 16 bytes: the rounds.
            place = blob.index(b'bcrypt') + 6 + 4 + 4 + 16
            blob[place:place + 4] = b'\\x7f\\xff\\xff\\xff'
            print('-----BEGIN OPENSSH PRIVATE KEY-----', base64.b64encode(blob).decode(), '-----END OPENSSH PRIVATE KEY-----', sep='\\n', file=open('dear', 'w'))
            END
            keychain import dear --passphrase-fd 3 3< phrase || echo $?
            """)
        #expect(outcome.text == "51\n1\n1\n", "\(outcome.errors)")
        let errors = outcome.errors.split(separator: "\n").map(String.init).filter { $0.hasPrefix("keychain: ") }
        try #require(errors.count == 3)
        #expect(errors[0].contains("the passphrase of the file is wrong"))
        #expect(errors[1].contains("damaged"))
        #expect(errors[2].contains("more iterations of its passphrase than any program uses"))
    }

    @Test(arguments: [
        "openssl genpkey -algorithm ed25519 -aes256 -pass file:phrase",
        "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null | openssl rsa -aes128 -traditional -passout file:phrase 2>/dev/null",
        "openssl ecparam -name secp384r1 -genkey -noout | openssl ec -des3 -passout file:phrase 2>/dev/null",
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | openssl pkcs8 -topk8 -scrypt -passout file:phrase",
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 | openssl pkcs8 -topk8 -outform DER -passout file:phrase",
    ])
    func openSSL(command: String) throws {
        let outcome = try run(
            """
            \(command) > key
            keychain import key --passphrase-fd 3 3< phrase; keychain key public key > ours
            form=PEM; head -c 5 key | grep -q -- ----- || form=DER
            openssl pkey -in key -inform $form -passin file:phrase -pubout | cmp - ours
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "private key\tkey\tstored\n")
    }

    /// A key that is written down somewhere: with a byte order mark, the line ends of Windows, in UTF-16, with text
    /// around.
    @Test func textAroundAKey() throws {
        let outcome = try run(
            #"""
            for form in mark lines wide mail; do
                openssl genpkey -algorithm ed25519 -out key; openssl pkey -in key -pubout > theirs
                case $form in
                    mark) (printf '\357\273\277'; cat key) > file ;;
                    lines) sed 's/$/\r/' key > file ;;
                    wide) (printf '\377\376'; iconv -f UTF-8 -t UTF-16LE key) > file ;;
                    mail) (printf 'Hello,\nSubject: here is the key:\n\n  '; sed 's/^/  /' key; printf '\nBye: me\n') > file ;;
                esac
                keychain import file --label $form; keychain key public $form | cmp - theirs
            done
            """#)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.text
                == ["mark", "lines", "wide", "mail"].map { "private key\t\($0)\tstored\n" }.joined())
    }

    /// Certificates of a chain in one file, as Windows and authorities hand them out.
    @Test(arguments: ["DER", "PEM"])
    func certificatesInPKCS7(form: String) throws {
        let outcome = try run(
            """
            for name in one two; do
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -subj /CN=$name -out $name.pem 2>/dev/null
            done
            openssl crl2pkcs7 -nocrl -certfile one.pem -certfile two.pem -outform \(form) -out chain.p7b
            keychain import chain.p7b; keychain import chain.p7b; keychain import one.key; keychain export one | cmp - one.pem
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let stored = ["one", "two"].map { "certificate\t\($0)\tstored\n" }.joined()
        #expect(
            outcome.text == stored + stored.replacing("stored", with: "was there already")
                + "private key\tone\tstored\n",
            "\(outcome.text)")
    }

    /// Git's signatures, with the kind of key that most people have.
    @Test func gitSignsWithAnImportedKey() throws {
        let outcome = try run(
            """
            export XDG_RUNTIME_DIR="$HOME/run"; mkdir -m 700 run
            ssh-keygen -q -t ed25519 -N '' -C '' -f id; keychain import id; rm id
            echo "me@example.com $(cut -d' ' -f1,2 id.pub)" > allowed
            git init -q repository; cd repository
            git config user.name Me; git config user.email me@example.com
            git config gpg.format ssh; git config gpg.ssh.allowedSignersFile ../allowed
            git config user.signingkey "key::$(keychain key public id --format openssh)"
            keychain ssh-agent -- git commit -q -S --allow-empty -m first
            git verify-commit HEAD 2>&1
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.contains("Good \"git\" signature for me@example.com with ED25519 key"), "\(outcome.text)")
    }

    /// OpenSSL verifies what the key signs, and the request for a certificate.
    @Test func ed25519Signs() throws {
        let outcome = try run(
            """
            keychain key create me --type ed25519; keychain key public me > me.pem; printf 'a message' > message
            keychain key sign me < message > signature
            openssl pkeyutl -verify -pubin -inkey me.pem -rawin -in message -sigfile signature
            keychain key csr me --subject CN=me | openssl req -noout -verify 2>&1 | tail -n 1
            keychain key verify me --signature signature < message
            keychain key encrypt me < message || echo $?
            keychain key public me --format jwk
            """)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "Signature Verified Successfully", "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("verify OK") && outcome.text.contains("\n64\n"), "\(outcome.text)")
        #expect(lines.last?.contains(#""crv":"Ed25519","#) == true, "\(outcome.text)")
        #expect(outcome.errors.contains("a key of type ed25519 signs and verifies, and does nothing else"))
    }
}
