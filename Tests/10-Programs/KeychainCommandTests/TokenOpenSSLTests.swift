import Foundation
import Glibc
import TestSupport
import Testing

/// The PKCS #11 module in OpenSSL, by the engine of libp11 and by pkcs11-provider, and in nginx with a daemon.
@Suite struct TokenOpenSSLTests {
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case engine, provider

        var testDescription: String { rawValue }

        /// What `openssl` takes a key by.
        var options: String { self == .engine ? "-engine pkcs11 -keyform engine" : "" }

        /// The lines of a script that make the configuration and the file or the name of each key.
        func setup() throws -> String {
            let list = self == .engine ? "engines" : "providers"
            let file = try TokenPlace.block("openssl_conf = keychain\n\n[keychain]\n" + list)
            let key = self == .engine ? "uri \"$1\"" : "keychain key pem \"$1\" > \"$1.key\" && echo \"$1.key\""
            return """
                cat > token.cnf <<'END'
                \(file)
                END
                token() { OPENSSL_CONF="$HOME/token.cnf" "$@" 2>>openssl.log; }
                key() { \(key); }

                """
        }
    }

    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    @Test(arguments: Way.allCases, ["--enclave", "--type rsa2048"])
    func requestsMessagesServersAndClients(way: Way, kind: String) throws {
        let outcome = try place.shell(
            #"""
            \#(try way.setup())
            keychain key create web \#(kind); key=$(key web)
            token openssl req -new -x509 \#(way.options) -key "$key" -subj /CN=localhost -addext subjectAltName=DNS:localhost -out web.crt
            openssl verify -CAfile web.crt web.crt
            token openssl cms -sign \#(way.options) -inkey "$key" -signer web.crt -in text -nodetach -outform PEM -out text.cms
            openssl cms -verify -in text.cms -inform PEM -CAfile web.crt -purpose any 2>>log; echo
            port=$(port)
            OPENSSL_CONF="$HOME/token.cnf" openssl s_server \#(way.options) -key "$key" -cert web.crt -accept $port -www >>log 2>&1 & server=$!
            ask() { curl -s -m 20 --cacert web.crt https://localhost:$port/ > page; }
            eventually ask; grep -o '^s_server' page | head -n 1; stop $server
            # A server that asks for the client's certificate.
            openssl req -x509 -newkey rsa:2048 -nodes -keyout plain.key -out plain.crt -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
            openssl s_server -key plain.key -cert plain.crt -accept $port -CAfile web.crt -Verify 1 -verify_return_error -www >>log 2>&1 & server=$!
            client() { token curl -s -m 20 --cacert plain.crt \#(way == .engine ? "--engine pkcs11 --key-type ENG" : "") --key "$key" --cert web.crt https://localhost:$port/ > page; }
            eventually client; grep -o 'Subject: CN *= *localhost' page | head -n 1; stop $server
            """#)
        place.expect(outcome, ["web.crt: OK", "text", "s_server", "Subject: CN...localhost"])
    }

    @Test func theProviderDecrypts() throws {
        let outcome = try place.shell(
            #"""
            \#(try Way.provider.setup())
            keychain key create web --type rsa2048; key web >/dev/null; keychain key public web > public.pem
            token openssl req -new -x509 -key web.key -subj /CN=web -out web.crt
            for option in '' '-keyopt rsa_padding_mode:oaep' '-keyopt rsa_padding_mode:oaep -keyopt rsa_oaep_md:sha256'; do
                openssl cms -encrypt -in text -outform PEM -out text.cms -recip web.crt $option
                token openssl cms -decrypt -inkey web.key -recip web.crt -in text.cms -inform PEM; echo
            done
            openssl pkeyutl -encrypt -pubin -inkey public.pem -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 \
                -in text -out sealed
            openssl() { token command openssl "$@"; }
            \#(try TokenPlace.block("openssl pkeyutl -decrypt"))
            """#)
        place.expect(outcome, ["text", "text", "text", "text"])
    }

    /// The installed daemon knows a service of another user by its unit. A test has no unit: the user stands for it.
    @Test(.enabled(if: geteuid() == 0, "only root starts workers as another user"), arguments: Way.allCases)
    func nginxWithTheInstalledDaemon(way: Way) throws {
        let rules = try #require(TutorialTests.blocks("json", of: "EnclaveKey").first)
        let rulesOfUsers = rules.replacing(#""unit": "nginx.service""#, with: #""uid": 33"#)
        try #require(rulesOfUsers != rules)
        try nginx(way, rulesOfUsers, isInstalled: true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root starts workers as another user"), arguments: Way.allCases)
    func nginxWithWorkersOfAnotherUser(way: Way) throws {
        try nginx(way, TokenPlace.block(#"{"version": 1"#), isInstalled: false)
    }

    private func nginx(_ way: Way, _ rules: String, isInstalled: Bool) throws {
        let key = way == .engine ? "engine:pkcs11:pkcs11:token=keychain;object=web;type=private" : "$HOME/web.key"
        let outcome = try place.served(
            entitlements: rules, isInstalled: isInstalled,
            #"""
            # The workers have to reach the socket.
            chmod 711 "$HOME"
            \#(try way.setup())
            keychain key create web --enclave --group web; key web >/dev/null
            keychain key csr web --subject CN=localhost --dns localhost > web.csr
            openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority 2>/dev/null
            openssl x509 -req -in web.csr -CA ca.crt -CAkey ca.key -CAcreateserial -copy_extensions copy -out web.crt 2>/dev/null
            cat > nginx.conf <<END
            user www-data; worker_processes 2; pid $HOME/nginx.pid; env KEYCHAIN_SOCKET;
            events { worker_connections 64; }
            http {
                access_log off; ssl_session_cache off; ssl_session_tickets off;
                server {
                    listen unix:$HOME/nginx.socket ssl;
                    ssl_certificate $HOME/web.crt; ssl_certificate_key "\#(key)";
                    location / { return 200 "\$pid\n"; }
                }
            }
            END
            OPENSSL_CONF="$HOME/token.cnf" nginx -e "$HOME/error.log" -c "$HOME/nginx.conf" -g 'daemon off;' & nginx=$!
            trap 'stop $nginx; end' EXIT
            get() { curl -s -m 20 --unix-socket nginx.socket --cacert ca.crt https://localhost/; }
            works() { get > page; }
            fails() { ! get > page; }
            eventually works && echo page; former=$(cat page)
            ps -o user= -p $former
            kill -HUP $nginx; renewed() { works && [ "$(ps -o ppid= -p $former)" = "" ]; }; eventually renewed && echo reloaded
            end; fails && echo 'no daemon'; begin; eventually works && echo 'daemon again'
            printf right > right
            keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right 2>/dev/null; keychain lock
            fails && echo locked; keychain unlock --passcode-fd 3 3<right; eventually works && echo unlocked
            keychain audit --json | grep -c '\#(isInstalled ? "uid:33" : "uid:33:/usr/sbin/nginx")' | sed 's/^[1-9].*/audited/'
            """#)
        place.expect(
            outcome,
            [
                "page", "www-data", "reloaded", "no daemon", "daemon again", #"{"passcode":true}"#, "locked",
                "unlocked", "audited",
            ])
    }
}
