import Foundation
import Glibc
import TestSupport
import Testing

/// The commands, rules and programs of the tutorials in Documentation/Start, as the pages have them. What only a
/// service manager does (blocks marked `console` and `ini`) is left out.
@Suite struct TutorialTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    /// The blocks of a tutorial in one language, such as `sh`, in their order.
    static func blocks(_ language: String, of tutorial: String) throws -> [String] {
        let parts = try Repository.text("Documentation/Start/\(tutorial).md").components(separatedBy: "```")
        return parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            .filter { $0.hasPrefix(language + "\n") }.map { String($0.dropFirst(language.count + 1)) }
    }

    /// The path of a tutorial's program, which is built beside the tests.
    private static func program(_ name: String) -> String {
        URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: name).path
    }

    @Test func aFirstSecret() throws {
        let steps = try Self.blocks("sh", of: "FirstSecret")
        #expect(steps.count == 2)
        let outcome = try place.shell(
            steps.joined().replacing("swift run Mail", with: "'\(Self.program("MailTutorial"))'"))
        place.expect(
            outcome,
            [
                "stored; run it again", "alice signs in at imap.example.com", "com.example.mail...",
                // In a pipe, a secret has no end of line.
                #"{"password":"correct horse","server":"imap.example.com"}not readable"#,
            ])
    }

    @Test func secretsForAServer() throws {
        let steps = try Self.blocks("sh", of: "ServerSecrets")
        let rules = try #require(Self.blocks("json", of: "ServerSecrets").first)
        try #require(steps.count == 3 && rules.contains(#""unit": "shop.service""#))
        let shop = Self.program("ShopTutorial")
        let outcome = try place.served(
            // No service manager made the unit here: the program's path stands for it.
            entitlements: rules.replacing(
                #""unit": "shop.service""#, with: #""executable": "\#(shop)", "uid": \#(getuid())"#),
            #"""
            \#(steps[0])
            export KEYCHAIN_MODE=daemon
            '\#(shop)' > shop.log 2>&1 & shop=$!
            trap 'stop $shop; end' EXIT
            lines() { [ "$(wc -l < shop.log)" = "$1" ]; }
            eventually lines 1
            \#(steps[1])
            eventually lines 2; cat shop.log
            { \#(steps[2]) } > audit
            grep -c ShopTutorial audit
            """#)
        place.expect(
            outcome,
            [
                "com.example.shop...", "connecting with a password of 14 characters",
                "connecting with a password of 19 characters", "2",
            ])
    }

    @Test(.enabled(if: geteuid() == 0, "only root starts workers as another user"))
    func aKeyOfTheEnclave() throws {
        let steps = try Self.blocks("sh", of: "EnclaveKey")
        let rules = try #require(Self.blocks("json", of: "EnclaveKey").first)
        try #require(rules.contains(#""unit": "nginx.service""#))
        let server = try #require(Self.blocks("nginx", of: "EnclaveKey").first)
            .replacing("listen 443", with: "listen unix:$HOME/nginx.socket").replacing("/etc/nginx", with: "$HOME")
        try #require(steps.count == 4)
        let outcome = try place.served(
            // No service manager made the unit here: the program's path stands for it.
            entitlements: rules.replacing(
                #""unit": "nginx.service""#, with: #""executable": "/usr/sbin/nginx""#),
            #"""
            # The workers have to reach the socket.
            chmod 711 "$HOME"
            cat > openssl-keychain.cnf <<'END'
            \#(try TokenPlace.block("openssl_conf = keychain\n\n[keychain]\nproviders"))
            END
            { \#(steps.joined().replacing("/etc/nginx", with: "$HOME")) } 2>>log
            cat > nginx.conf <<END
            user www-data; worker_processes 2; pid $HOME/nginx.pid; env KEYCHAIN_SOCKET;
            events { worker_connections 64; }
            http { access_log off;
            \#(server)
            }
            END
            OPENSSL_CONF="$HOME/openssl-keychain.cnf" nginx -e "$HOME/error.log" -c "$HOME/nginx.conf" -g 'daemon off;' & nginx=$!
            trap 'stop $nginx; end' EXIT
            get() { curl -s -m 20 --unix-socket nginx.socket --cacert ca.crt https://localhost/; }
            works() { get > page; }
            eventually works; cat page
            grep -c PRIVATE web.key
            keychain audit --json | grep -c 'uid:33:/usr/sbin/nginx' | sed 's/^[1-9].*/audited/'
            """#)
        place.expect(outcome, ["Verified OK", "signed in the enclave", "...", "audited"])
    }
}
