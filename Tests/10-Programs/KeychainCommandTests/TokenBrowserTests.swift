import Foundation
import TestSupport
import Testing

/// Browsers that show a site a certificate of the keychain, as Documentation/Use/PKCS11.md has them do.
@Suite struct TokenBrowserTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    /// The lines of a script that start a site at `$site`, which says whose certificate it was shown.
    private static func site(_ kind: String) -> String {
        #"""
        keychain key create ann \#(kind)
        \#(TokenPlace.authority)
        certify ann client
        openssl req -newkey rsa:2048 -nodes -keyout site.key -out site.csr -subj /CN=site 2>>log
        issue site server
        port=$(port); site=https://localhost:$port/; mkdir nginx
        cat > nginx.conf <<END
        daemon off; master_process off; pid $HOME/nginx.pid;
        events { worker_connections 64; }
        http {
            access_log off; default_type text/plain; client_body_temp_path $HOME/nginx; proxy_temp_path $HOME/nginx;
            fastcgi_temp_path $HOME/nginx; uwsgi_temp_path $HOME/nginx; scgi_temp_path $HOME/nginx;
            server {
                listen 127.0.0.1:$port ssl; ssl_certificate $HOME/site.crt; ssl_certificate_key $HOME/site.key;
                ssl_client_certificate $HOME/ca.crt; ssl_verify_client on; ssl_protocols TLSv1.2 TLSv1.3;
                location / { return 200 "\$ssl_client_s_dn \$ssl_client_verify\n"; }
            }
        }
        END
        nginx -e "$HOME/nginx.log" -c "$HOME/nginx.conf" & nginx=$!
        trap 'stop $nginx' EXIT
        # A browser's database, which trusts the authority.
        trust() { certutil -A -d "sql:$1" -n authority -t C,, -i ca.crt; }

        """#
    }

    @Test(arguments: ["--enclave", "--type rsa2048"])
    func firefoxShowsACertificate(kind: String) throws {
        let peer = URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer/certificate_peer.py"
        let commands = try TokenPlace.block("modutil -dbdir").replacing(
            "~/.mozilla/firefox/PROFILE", with: "\"$HOME/profile\"")
        let outcome = try place.shell(
            #"""
            \#(Self.site(kind))
            mkdir profile; certutil -N -d sql:profile --empty-password; trust profile
            modutil() { command modutil "$@" -force >>log 2>&1; }
            { \#(commands) } > keys; grep -c "$(keyid ann)" keys
            /usr/bin/python3 -B '\#(peer)' "$HOME/profile" $site ann || cat firefox.log nginx.log >&2
            """#)
        place.expect(outcome, ["1", "CN=ann SUCCESS"])
    }

    /// Chromium's allocator ends it for any byte that is written past a block.
    @Test(arguments: ["--enclave", "--type rsa2048"])
    func chromiumShowsACertificate(kind: String) throws {
        let outcome = try place.shell(
            #"""
            \#(Self.site(kind))
            modutil() { command modutil "$@" -force >>log 2>&1; }
            \#(try TokenPlace.block("mkdir -p -m 700 ~/.pki"))
            trust "$HOME/.pki/nssdb"
            # Not every Chromium has a folder for policies, but its own folder is there.
            cp -r /etc/chromium policy; mkdir -p policy/policies/managed
            cat > policy/policies/managed/keychain.json <<'END'
            \#(try TokenPlace.block(#"{"AutoSelectCertificateForUrls""#))
            END
            as=-m; [ "$(/usr/bin/id -u)" = 0 ] || as=-rm
            unshare $as sh -c 'mount --bind policy /etc/chromium; exec timeout 100 "$@"' sh chromium --headless=new \
                --no-sandbox --disable-gpu --no-first-run "--user-data-dir=$HOME/chromium" --dump-dom $site > page 2>chromium.log
            grep -o 'CN=ann SUCCESS' page || cat chromium.log nginx.log >&2
            """#)
        place.expect(outcome, ["CN=ann SUCCESS"])
    }
}
