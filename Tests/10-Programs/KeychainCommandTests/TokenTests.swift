import Foundation
import TestSupport
import Testing

/// The PKCS #11 module in programs of others, with a vault in a folder.
@Suite struct TokenTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    /// A second runtime or a second copy of a library in a program is where crashes come from.
    @Test func theLibraryIsSmallAndAlone() throws {
        let outcome = try place.shell(
            #"""
            nm -D --defined-only "$MODULE" | cut -d' ' -f3 | sort
            ldd "$MODULE" | sed 's/ *(0x.*//; s/ => .*//' | tr -d '\t' | sed 's/^.*ld-linux.*/loader/' | sort
            [ $(stat -c %s "$MODULE") -lt 10000000 ] && echo small
            """#)
        place.expect(
            outcome,
            [
                "C_GetFunctionList", "C_GetInterface", "C_GetInterfaceList", "libc.so.6", "libm.so.6",
                "linux-vdso.so.1", "loader", "small",
            ])
    }

    @Test func whatPKCS11ToolSees() throws {
        let outcome = try place.shell(
            #"""
            tool -L | grep -E 'Slot|token label|serial'; echo "none yet"
            keychain key create web --enclave; keychain key create rsa --type rsa2048
            openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -out other.crt -subj /CN=other 2>/dev/null
            keychain import other.crt --label other >/dev/null
            tool -L | grep -E 'label|flags'
            tool -O | grep -E 'Object|label|ID:|Usage|Access' | grep -v Unique | sed "s/$(keyid web)/WEB/; s/$(keyid rsa)/RSA/"
            tool -O --type cert | grep -E 'label|subject'
            tool -t | tail -n 1
            """#)
        place.expect(
            outcome,
            [
                "Slot 0 (0x0): Keychain", "none yet",
                "  token label        : keychain",
                "  token flags        : PIN pad present, rng, token initialized",
                "Public Key Object; EC  EC_POINT 256 bits", "  label:      web", "  ID:         WEB",
                "  Usage:      ...", "  Access:     ...",
                "Private Key Object; EC", "  label:      web", "  ID:         WEB", "  Usage:      ...",
                "  Access:     sensitive, always sensitive, never extractable, local",
                "Public Key Object; RSA 2048 bits", "  label:      rsa", "  ID:         RSA",
                "  Usage:      ...", "  Access:     ...",
                "Private Key Object; RSA ", "  label:      rsa", "  ID:         RSA", "  Usage:      ...",
                "  Access:     sensitive",
                "Certificate Object; type = X.509 cert", "  label:      other", "  ID:         ...",
                "  label:      other", "  subject:    DN: CN=other",
                "No errors",
            ])
    }

    private static let signatures = #"""
        check() { openssl dgst "$1" -verify public.pem -signature sig ${2:+-sigopt "$2"} text; }
        sign() { rm -f sig; tool --sign --id "$(keyid "$1")" -m "$2" -i "$3" -o sig "${@:4}" >/dev/null; keychain key public "$1" > public.pem; }
        openssl dgst -sha256 -binary text > digest
        """#

    @Test(arguments: ["--enclave", "", "--type p384", "--type p521"])
    func signingOnACurve(options: String) throws {
        let outcome = try place.shell(
            """
            \(Self.signatures)
            keychain key create key \(options)
            sign key ECDSA digest --signature-format openssl; check -sha256
            sign key ECDSA-SHA384 text --signature-format openssl; check -sha384
            openssl ecparam -genkey -name $(openssl pkey -pubin -in public.pem -noout -text | sed -n 's/ASN1 OID: //p') -noout -out other.pem
            openssl pkey -in other.pem -pubout -outform DER -out other.der
            tool --derive --id "$(keyid key)" -m ECDH1-DERIVE -i other.der -o secret >/dev/null
            openssl pkeyutl -derive -inkey other.pem -peerkey public.pem | cmp - secret && echo agreed
            """)
        place.expect(outcome, ["Verified OK", "Verified OK", "agreed"])
    }

    @Test func signingAndDecryptingWithRSA() throws {
        let outcome = try place.shell(
            """
            \(Self.signatures)
            keychain key create key --type rsa2048
            sign key SHA256-RSA-PKCS text; check -sha256
            sign key SHA512-RSA-PKCS-PSS text; check -sha512 rsa_padding_mode:pss
            sign key RSA-PKCS-PSS digest --hash-algorithm SHA256 --mgf MGF1-SHA256 --salt-len 32; check -sha256 rsa_padding_mode:pss
            openssl pkeyutl -encrypt -pubin -inkey public.pem -in text -out sealed
            tool --decrypt --id "$(keyid key)" -m RSA-PKCS -i sealed; echo
            openssl pkeyutl -encrypt -pubin -inkey public.pem -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -in text -out sealed
            tool --decrypt --id "$(keyid key)" -m RSA-PKCS-OAEP --hash-algorithm SHA256 --mgf MGF1-SHA256 -i sealed; echo
            keychain key create ed --type ed25519
            sign ed EDDSA text; openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in text -sigfile sig
            """)
        place.expect(
            outcome, ["Verified OK", "Verified OK", "Verified OK", "text", "text", "Signature Verified Successfully"])
    }

    @Test func aKeyInATPM() throws {
        let tpm = try SoftwareTPM()
        let outcome = try place.shell(
            """
            export KEYCHAIN_TPM='\(tpm.address)'; keychain init --enclave tpm2 >/dev/null
            \(Self.signatures)
            keychain key create key --enclave; keychain key info key | grep kept
            sign key ECDSA digest --signature-format openssl; check -sha256
            """)
        place.expect(outcome, ["kept in      tpm2", "Verified OK"])
    }

    @Test func gnuTLS() throws {
        let outcome = try place.shell(
            #"""
            keychain key create ec --enclave; keychain key create rsa --type rsa2048
            printf 'cn = localhost\ndns_name = localhost\nexpiration_days = 9\ntls_www_server\nsigning_key\n' > config
            p11tool --provider "$MODULE" --list-privkeys 'pkcs11:token=keychain' | grep -c URL:
            for key in ec rsa; do
                p11tool --provider "$MODULE" --test-sign "$(uri $key)" 2>&1 | grep -c ok
                certtool --provider "$MODULE" --generate-self-signed --load-privkey "$(uri $key)" --template config --outfile $key.crt 2>>log
                port=$(port)
                gnutls-serv --provider "$MODULE" -p $port --x509keyfile "$(uri $key)" --x509certfile $key.crt --echo >>log 2>&1 & server=$!
                ask() { echo "hello $key" | gnutls-cli --x509cafile $key.crt -p $port localhost 2>>log > answer; }
                eventually ask; grep hello answer; stop $server
            done
            """#)
        place.expect(outcome, ["2", "3", "hello ec", "3", "hello rsa"])
    }

    @Test func sshAndGit() throws {
        let outcome = try place.shell(
            #"""
            keychain key create door --enclave; keychain key create ed --type ed25519
            \#(AgentTests.host)
            ssh-keygen -D "$MODULE" 2>>log | cut -d' ' -f1,2 | cmp - <(cut -d' ' -f1,2 authorized) && echo listed
            sed "s|-o BatchMode=yes|-I '$MODULE' &|" login > login-module; sh login-module | tail -n 1
            # It loads modules from the system's folders alone, unless it is told another.
            ssh-agent -P "$(readlink -f "$MODULE")" bash -c '
                SSH_ASKPASS_REQUIRE=force SSH_ASKPASS=true ssh-add -s "$(readlink -f "$MODULE")" </dev/null >>log 2>&1; sh login
                git init -q repository; cd repository; git config user.name Me; git config user.email me@example.com
                echo "me@example.com $(cat ../authorized)" > ../allowed
                git config gpg.format ssh; git config gpg.ssh.allowedSignersFile ../allowed
                git config user.signingkey ../authorized
                git commit -q -S --allow-empty -m first; git verify-commit HEAD 2>&1'
            """#)
        place.expect(
            outcome,
            ["listed", "inside", "inside", #"Good "git" signature for me@example.com with ECDSA key SHA256:..."#])
    }

    @Test func networkSecurityServices() throws {
        let outcome = try place.shell(
            #"""
            keychain key create ec --enclave; keychain key create rsa --type rsa2048
            mkdir nss; certutil -N -d nss --empty-password
            modutil -dbdir nss -add keychain -libfile "$MODULE" -force 2>&1 | grep added
            certutil -K -d nss -h keychain | grep -E '^<' | sed "s/$(keyid ec)/EC/; s/$(keyid rsa)/RSA/"
            for key in ec rsa; do
                certutil -R -d nss -h keychain -k "$(keyid $key)" -s CN=$key -Z SHA256 -a 2>>log > request
                openssl req -in request -noout -verify -subject 2>&1
            done
            """#)
        place.expect(
            outcome,
            [
                #"Module "keychain" added to database."#, "< 0> ec ...EC...ec", "< 1> rsa...RSA...rsa",
                "Certificate request self-signature verify OK", "subject=CN = ec",
                "Certificate request self-signature verify OK", "subject=CN = rsa",
            ])
    }

    @Test func python() throws {
        let outcome = try place.shell(
            #"""
            keychain key create key --enclave; keychain key public key > public.pem
            cat > peer.py <<'END'
            import os, threading
            \#(try TokenPlace.block("import PyKCS11"))
            key = session.findObjects([(PyKCS11.CKA_CLASS, PyKCS11.CKO_PRIVATE_KEY), (PyKCS11.CKA_LABEL, 'key')])[0]
            def sign(session, name):
                r_s = bytes(session.sign(key, b'text', PyKCS11.Mechanism(PyKCS11.CKM_ECDSA_SHA256, None)))
                from cryptography.hazmat.primitives.asymmetric import ec, utils
                from cryptography.hazmat.primitives import hashes, serialization
                der = utils.encode_dss_signature(int.from_bytes(r_s[:32], 'big'), int.from_bytes(r_s[32:], 'big'))
                public = serialization.load_pem_public_key(open('public.pem', 'rb').read())
                public.verify(der, b'text', ec.ECDSA(hashes.SHA256()))
                print(name, flush=True)
            sign(session, 'here')
            threads = [threading.Thread(target=sign, args=(library.openSession(0), 'thread')) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            # A child of the program has a connection of its own.
            child = os.fork()
            if child == 0:
                sign(session, 'child'); os._exit(0)
            os.waitpid(child, 0); sign(session, 'parent')
            END
            /usr/bin/python3 peer.py
            """#)
        place.expect(outcome, ["here", "thread", "thread", "thread", "thread", "child", "parent"])
    }

    /// A program sees no passwords, unless its environment asks for them.
    @Test func passwordsIfAskedFor() throws {
        let outcome = try place.shell(
            #"""
            export KEYCHAIN_AUDIT=1
            printf secret | keychain set mail anna
            echo "$(tool --list-objects --type data | grep -c Data)"
            export KEYCHAIN_PKCS11_DATA=1
            tool --list-objects --type data | grep -v '^Data\|flags\|app_id'
            tool --read-object --type data --label mail; echo
            keychain audit --json | grep -o '"event":"read"' | tail -1
            tool --delete-object --type data --label mail >/dev/null
            keychain get mail anna || echo "gone $?"
            """#)
        #expect(
            outcome.text == """
                0
                  label:          'mail'
                  application:    'mail'
                secret
                "event":"read"
                gone 44

                """, "\(outcome.errors)")
    }

    /// A person sees and deletes the secret keys that programs make.
    @Test func secretKeysAreListed() throws {
        let outcome = try place.shell(
            #"""
            keychain set mail anna < text
            tool --keygen --key-type AES:32 --label files --id 0a >/dev/null
            tool --keygen --key-type GENERIC:20 --label codes >/dev/null
            keychain key list | cut -f1-3
            keychain key delete codes --json; keychain key list | cut -f1
            tool --list-objects --type secrkey | grep 'label\|^  ID:'
            """#)
        place.expect(
            outcome,
            [
                "codes\thmac160\tsoftware", "files\taes256\tsoftware", #"{"deleted":1}"#, "files",
                "  label:      files", "  ID:         0a",
            ])
    }
}
