import Foundation
import Glibc
import TestSupport
import Testing

/// The recipes of Documentation/Use/PKCS11.md for programs that have nothing but the module, in these programs.
@Suite struct TokenRecipeTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    /// Peers that use keys of the keychain on both sides. The server goes to the background after it loaded the module.
    @Test(arguments: [("ec", "rsa"), ("rsa", "ec")])
    func openVPN(server: String, client: String) throws {
        let outcome = try place.shell(
            #"""
            keychain key create ec --enclave; keychain key create rsa --type rsa2048
            \#(TokenPlace.authority)
            certify \#(server) server; certify \#(client) client
            upper() { keyid "$1" | tr a-f A-F; }
            { \#(try TokenPlace.block("openvpn --show-pkcs11-ids")) } > shown
            sed -n 's/.*Serialized id: *//p' shown | sed "s/$(upper ec)/EC/; s/$(upper rsa)/RSA/" | sort
            cat > key.conf <<'END'
            \#(try TokenPlace.block("pkcs11-providers"))
            END
            port=$(port)
            peer() { sed "s/HASH/$(upper "$1")/" key.conf; printf '%s\n' 'dev null' 'proto udp4' 'verb 3' "ca $HOME/ca.crt"; }
            { peer \#(server); printf '%s\n' tls-server 'dh none' 'local 127.0.0.1' "lport $port" 'remote-cert-tls client' \
                daemon "writepid $HOME/server.pid" "log $HOME/server.log"; } > server.conf
            { peer \#(client); printf '%s\n' tls-client "remote 127.0.0.1 $port" nobind 'remote-cert-tls server'; } > client.conf
            openvpn server.conf & started=$!
            openvpn client.conf > client.log & client=$!
            trap 'stop $client; kill $(cat server.pid)' EXIT
            complete() { grep -q 'Initialization Sequence Completed' "$1.log"; }
            eventually complete client && echo client; eventually complete server && echo server
            grep -ho 'VERIFY OK: depth=0, CN=.*' client.log server.log
            complete client && complete server || cat client.log server.log >&2
            """#)
        let name = #"swift\x2Dkeychain/vault/1/keychain"#
        place.expect(
            outcome,
            [
                "\(name)/EC", "\(name)/RSA", "client", "server", "VERIFY OK: depth=0, CN=\(server)",
                "VERIFY OK: depth=0, CN=\(client)",
            ])
    }

    @Test(arguments: ["--enclave", "--type rsa2048"])
    func strongSwan(kind: String) throws {
        let commands = try TokenPlace.block("hash=$(keychain").replacing(
            "ecdsa", with: kind == "--enclave" ? "ecdsa" : "rsa")
        let outcome = try place.shell(
            #"""
            cat > strongswan.conf <<'END'
            \#(try TokenPlace.block("libstrongswan {"))
            END
            export STRONGSWAN_CONF="$HOME/strongswan.conf"
            keychain key create web \#(kind)
            openssl req -newkey rsa:2048 -nodes -keyout /dev/null -out peer.csr -subj /CN=peer 2>/dev/null
            # It reads the PIN from standard input where there is no terminal.
            pki() { echo any | command pki "$@" 2>>pki.log; }
            \#(commands)
            openssl req -in web.csr -noout -verify -subject 2>&1
            openssl verify -CAfile web.crt web.crt peer.crt
            [ -s peer.crt ] || cat pki.log >&2
            """#)
        place.expect(
            outcome,
            ["Certificate request self-signature verify OK", "subject=CN = web", "web.crt: OK", "peer.crt: OK"])
    }

    /// Two daemons, each in a network of its own, one with a key of the token.
    @Test(
        .enabled(if: geteuid() == 0, "only root makes networks of its own"), arguments: ["--enclave", "--type rsa2048"])
    func daemonOfStrongSwan(kind: String) throws {
        let outcome = try place.shell(
            #"""
            keychain key create web \#(kind)
            \#(TokenPlace.authority)
            certify web client
            cat > strongswan.conf <<'END'
            \#(try TokenPlace.block("libstrongswan {"))
            END
            cat > site.conf <<'END'
            \#(try TokenPlace.block("connections {"))
            END
            \#(Self.daemons)
            """#)
        place.expect(outcome, ["established between 10.9.0.1[CN=web]...10.9.0.2[CN=peer]"])
    }

    private static let daemons = #"""
        openssl req -newkey rsa:2048 -nodes -keyout peer.key -out peer.csr -subj /CN=peer 2>>log; issue peer server
        for side in token peer; do
            mkdir -p $side/x509ca $side/x509 $side/private; cp ca.crt $side/x509ca
            cat strongswan.conf - > $side/strongswan.conf <<END
        charon {
          load = pkcs11 kdf hmac openssl random nonce pem pkcs1 x509 constraints kernel-netlink socket-default vici
          plugins { vici { socket = unix://$HOME/$side/vici } }
          filelog { file { path = $HOME/$side/log } }
        }
        END
        done
        cp peer.crt peer/x509; cp peer.key peer/private
        echo 'connections { site { childless = allow; local { certs = peer.crt }; remote { auth = pubkey } } }' | tr ';' '\n' > peer/swanctl.conf
        sed "s/HASH/$(keyid web)/; s/remote_addrs = .*/remote_addrs = 10.9.0.2\nchildless = force/" site.conf > token/swanctl.conf
        cat > network.sh <<'END'
        ip link set lo up; ip link add name v0 type veth peer name v1
        unshare -n sleep 200 & other=$!; trap 'kill $other $daemons' EXIT; daemons=
        # Before it has a network of its own, it is in this one.
        apart() { [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
        eventually apart; ip link set v1 netns $other
        there() { nsenter -n -t $other "$@"; }
        ip addr add 10.9.0.1/24 dev v0; ip link set v0 up
        there ip addr add 10.9.0.2/24 dev v1; there ip link set v1 up
        # Each has a folder of its own for its number.
        begin() { STRONGSWAN_CONF="$HOME/$1/strongswan.conf" "${@:2}" unshare -m sh -c 'mount -t tmpfs none /run; exec /usr/lib/ipsec/charon' >>log 2>&1 & daemons="$daemons $!"; }
        begin token; begin peer nsenter -n -t $other
        control() { STRONGSWAN_CONF="$HOME/$1/strongswan.conf" SWANCTL_DIR="$HOME/$1" swanctl "${@:2}" --uri "unix://$HOME/$1/vici" 2>>log; }
        for side in peer token; do eventually test -S $side/vici; control $side --load-all >>log; done
        control token --initiate --timeout 20 --ike site | grep -o 'established between.*' || cat */log >&2
        END
        export -f keyid eventually; unshare -n -m bash network.sh
        """#

    @Test func bind() throws {
        let commands = try TokenPlace.block("export OPENSSL_CONF").replacing(
            "/etc/keychain-openssl.cnf", with: "\"$HOME/token.cnf\"")
        let outcome = try place.shell(
            #"""
            \#(try TokenOpenSSLTests.Way.provider.setup())
            printf '%s\n' '$TTL 60' '@ IN SOA ns root 1 60 60 60 60' '@ IN NS ns' 'ns IN A 127.0.0.1' > zone
            keychain key create ksk --enclave; keychain key create zsk --enclave
            ( \#(commands) ) > signed 2>>log
            grep -c PrivateKey K*.private | cut -d: -f2
            dnssec-verify -o example.org zone.signed | grep -E '^Zone|SKs'
            [ -s zone.signed ] || cat log >&2
            """#)
        place.expect(
            outcome,
            [
                "0", "0", "Zone fully signed:", "Algorithm: ECDSAP256SHA256: KSKs: 1 active, ...",
                "...ZSKs: 1 active, ...",
            ])
    }

    /// `keytool`, `jarsigner`, and a server of TLS in a program.
    @Test(arguments: ["--enclave", "--type rsa2048"])
    func java(kind: String) throws {
        let outcome = try place.shell(
            #"""
            keychain key create web \#(kind)
            \#(TokenPlace.authority)
            certify web server
            cat > keychain.cfg <<'END'
            \#(try TokenPlace.block("name = keychain"))
            END
            printf 'Manifest-Version: 1.0\n' > MANIFEST.MF
            /usr/bin/python3 -m zipfile -c program.jar text
            # Where there is no development kit, the tool is in the runtime all the same.
            jarsigner() { java -m jdk.jartool/sun.security.tools.jarsigner.Main "$@"; }
            { \#(try TokenPlace.block(#"token="-keystore"#)) } > java.log 2>&1
            grep -o 'web, PrivateKeyEntry' java.log
            openssl req -in web.csr -noout -verify -subject 2>&1
            jarsigner -verify program.jar | grep verified
            cat > Server.java <<'END'
            \#(Self.server(try TokenPlace.block("Provider provider")))
            END
            java Server.java > port 2>>java.log & server=$!
            trap 'stop $server' EXIT
            ask() { curl -s -m 20 --cacert ca.crt https://localhost:$(cat port)/; }
            eventually ask || cat java.log >&2
            """#, seconds: 280)
        place.expect(
            outcome,
            [
                "web, PrivateKeyEntry", "Certificate request self-signature verify OK", "subject=CN = web",
                "jar verified.", "hello TLSv1.3",
            ])
    }

    private static func server(_ start: String) -> String {
        """
        import java.io.*;
        import java.security.*;
        import javax.net.ssl.*;

        public class Server {
            public static void main(String[] arguments) throws Exception {
                \(start)
                KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
                managers.init(keys, null);
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(managers.getKeyManagers(), null, null);
                SSLServerSocket server = (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0);
                System.out.println(server.getLocalPort());
                while (true) try (SSLSocket client = (SSLSocket) server.accept()) {
                    BufferedReader request = new BufferedReader(new InputStreamReader(client.getInputStream()));
                    while (!request.readLine().isEmpty()) {}
                    String answer = "HTTP/1.0 200 OK\\r\\n\\r\\nhello " + client.getSession().getProtocol() + "\\n";
                    client.getOutputStream().write(answer.getBytes());
                }
            }
        }
        """
    }

    /// Where `Scripts/install/setup.sh --tests` puts what `Tests/Support/Vectors/test-vectors.txt` names.
    private static let packages = Repository.file(".build/test-vectors").path

    @Test func pythonPKCS11() throws {
        let outcome = try place.shell(
            #"""
            keychain key create web --enclave; keychain key public web > public.pem
            cat > peer.py <<'END'
            \#(try TokenPlace.block("import pkcs11"))
            from pkcs11.util import ec
            open("signature", "wb").write(ec.encode_ecdsa_signature(signature))
            with token.open(rw=True) as session:
                print(sorted((item.object_class.name, item.label) for item in session.get_objects()))
                public, private = session.generate_keypair(pkcs11.KeyType.RSA, 2048, store=True, label="made")
                print(public.verify(b"text", private.sign(b"text")), public.verify(b"other", private.sign(b"text")))
                print(private.decrypt(public.encrypt(b"text")))
                private.destroy()
                curve = ec.encode_named_curve_parameters("1.3.101.113")
                unknown = session.create_domain_parameters(
                    pkcs11.KeyType.EC_EDWARDS, {pkcs11.Attribute.EC_PARAMS: curve}, local=True)
                try: unknown.generate_keypair(store=True, label="ed448")
                except pkcs11.PKCS11Error as error: print(error)
            END
            PYTHONPATH='\#(Self.packages)' /usr/bin/python3 peer.py
            openssl dgst -sha256 -verify public.pem -signature signature text
            """#)
        place.expect(
            outcome,
            [
                "[('PRIVATE_KEY', 'web'), ('PUBLIC_KEY', 'web')]", "True False", "b'text'",
                // CKR_CURVE_NOT_SUPPORTED.
                "Unmapped error code 0x140", "Verified OK",
            ])
    }
}
