#if HTTPClientSupport
import Foundation
import TestSupport
import Testing

/// The programs `keychain` and `keychain-sync`, with etcd.
@Suite struct CircleEtcdProgramTests {
    private let workplace: Workplace
    private let etcd: EtcdUnderTest

    init() throws {
        workplace = try Workplace()
        etcd = try EtcdUnderTest()
    }

    /// The beginning of each script: `one` and `two` run a program with a vault of their own.
    private var begin: String {
        """
        one() { KEYCHAIN_HOME=$HOME/one "$@"; }; two() { KEYCHAIN_HOME=$HOME/two "$@"; }
        etcd=\(etcd.endpoints.joined(separator: ","))
        sync() { KEYCHAIN_HOME=$HOME/$1 keychain-sync --endpoint $etcd > $1.log 2>&1 & }
        stop() { kill -9 $syncs 2> /dev/null; wait 2> /dev/null; }
        trap stop EXIT
        """
    }

    private func expectDone(_ script: String) throws -> String {
        let outcome = try workplace.shell(begin + "\n" + script)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        return outcome.text
    }

    private let circle = """
        for home in one two; do
            KEYCHAIN_HOME=$HOME/$home keychain init > /dev/null || exit 1; sync $home; syncs="$syncs $!"
        done
        one keychain circle create --etcd $etcd --name laptop || exit 1
        one keychain circle invite > words || exit 1
        two keychain circle join --etcd $etcd --name server --words-fd 3 3< words || exit 1
        for try in $(seq 100); do one keychain circle list 2>&1 | grep -q 'asks to join' && break; sleep 0.05; done
        one keychain circle approve --yes || exit 1
        """

    /// Two terminals, five commands, and an item that appears in the other vault.
    @Test func fiveCommands() throws {
        let text = try expectDone(
            circle + """

                printf secret | one keychain set mail.example.com alice --synchronizable || exit 1
                for try in $(seq 200); do two keychain get mail.example.com alice 2> /dev/null && break; sleep 0.05; done
                echo; two keychain circle sync || echo refused
                """)
        #expect(text.contains("\nsecret\nrefused\n"), "\(text)")
    }

    /// keychain-sync is killed again and again, on both sides, while items are stored: none is missing in the end.
    @Test func aKilledCarrierLosesNothing() throws {
        let rounds = TestScale.count(12, soak: 1_000)
        let text = try expectDone(
            circle + """

                stop; syncs=
                for round in $(seq \(rounds)); do
                    home=one; [ $((round % 2)) = 0 ] && home=two
                    printf "value $round" | KEYCHAIN_HOME=$HOME/$home keychain set service $round --synchronizable || exit 1
                    for home in one two; do
                        sync $home; pid=$!; sleep 0.$((round * 37 % 50 + 10)); kill -9 $pid; wait $pid 2> /dev/null
                    done
                done
                for home in one two one two; do
                    KEYCHAIN_HOME=$HOME/$home keychain-sync --endpoint $etcd --once --json | grep -v '"alarms":\\[\\]' && exit 1
                done
                for home in one two; do
                    for round in $(seq \(rounds)); do KEYCHAIN_HOME=$HOME/$home keychain get service $round; echo; done > $home.txt
                done
                cmp one.txt two.txt && wc -l < one.txt
                """)
        #expect(text.hasSuffix("\n\(rounds)\n"), "\(text)")
    }

    /// TLS with a certificate whose key is in the enclave; a server that another authority signed is refused.
    @Test func certificatesOfTheKeychain() throws {
        let folder = workplace.path
        let made = try workplace.shell(
            """
            authority() {
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \\
                    -keyout $1.key -out $1.pem 2> /dev/null
            }
            authority ca && authority other
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj / -keyout node.key -out node.csr 2> /dev/null
            printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\\nextendedKeyUsage=serverAuth,clientAuth\\n' > node.ext
            openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile node.ext -out node.pem \\
                2> /dev/null
            export KEYCHAIN_HOME=$HOME/one
            keychain key create sync --enclave --access after-first-unlock &&
            keychain key csr sync --subject CN=sync > sync.csr &&
            printf 'extendedKeyUsage=clientAuth\\n' > sync.ext &&
            openssl x509 -req -in sync.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile sync.ext -out sync.pem \\
                2> /dev/null &&
            keychain import sync.pem --label sync
            """)
        try #require(made.status == 0, "\(made.text)\(made.errors)")
        let safe = try EtcdUnderTest(
            options: [
                "--client-cert-auth", "--trusted-ca-file", folder + "/ca.pem", "--cert-file", folder + "/node.pem",
                "--key-file", folder + "/node.key",
            ],
            certificates: [
                "--cacert", folder + "/ca.pem", "--cert", folder + "/node.pem", "--key", folder + "/node.key",
            ])
        let outcome = try workplace.shell(
            """
            export KEYCHAIN_HOME=$HOME/one; etcd=\(safe.endpoints[0])
            keychain circle create --etcd $etcd --name laptop 2> /dev/null
            try() { keychain-sync --once --endpoint $etcd "$@" 2>&1; echo "status $?"; }
            try --authority ca.pem; try --authority other.pem --certificate sync; try --certificate nothing
            try --authority ca.pem --certificate sync
            """)
        let lines = outcome.text.split(separator: "\n").filter { $0.hasPrefix("status") }
        #expect(lines.count == 4 && lines.last == "status 0" && lines.dropLast().allSatisfy { $0 != "status 0" })
        #expect(outcome.text.contains("label 'nothing'"), "\(outcome.text)\(outcome.errors)")
        #expect(try safe.control(["get", "--prefix", "--keys-only", "/swift-keychain/"]).contains("/c1/00000000"))
    }

    /// What is wrong is said, and a password goes to nobody in clear text.
    @Test func mistakesAreExplained() throws {
        let text = try expectDone(
            """
            try() { KEYCHAIN_HOME=$HOME/one keychain-sync --once "$@" 2>&1; }
            try; one keychain init > /dev/null; try
            try --endpoint etcd:2379; try --endpoint http://etcd.example.com:2379 --user web --password-file words
            try --endpoint $etcd --user web; try --endpoint $etcd --user web --password-file nowhere
            try --endpoint $etcd --authority nowhere
            mkdir Sync; one keychain circle create --folder Sync > /dev/null; try
            try --endpoint http://127.0.0.1:1; one keychain-sync --once --json --endpoint http://127.0.0.1:1 2>&1; true
            """)
        for sentence in [
            "there is no vault at", "this vault is in no circle", "'etcd:2379' is no address of etcd",
            "in clear text: use https", "name the file with the password of 'web'",
            "the password of etcd cannot be read",
            "has no certificates in PEM", "`keychain circle sync --watch` does that",
            "http://127.0.0.1:1 cannot be reached", #""error""#,
        ] {
            #expect(text.contains(sentence), "\(sentence) is not in \(text)")
        }
    }

    /// At rest, keychain-sync takes little memory and no processor time, and asks nobody anything. Its figures are
    /// those that Prometheus reads.
    @Test func atRest() throws {
        let text = try expectDone(
            circle + """

                KEYCHAIN_HOME=$HOME/one keychain-sync --endpoint $etcd --metrics $HOME/figures > /dev/null 2>&1 &
                pid=$!; syncs="$syncs $pid"
                for try in $(seq 100); do grep -q '^keychain_sync_connected 1' figures 2> /dev/null && break; sleep 0.05; done
                sleep 1; before=$(cut -d' ' -f14,15 /proc/$pid/stat); sleep 2; after=$(cut -d' ' -f14,15 /proc/$pid/stat)
                echo "ticks $before $after"; grep VmRSS /proc/$pid/status; cat figures
                """)
        let ticks = try #require(text.firstMatch(of: /ticks (\d+) (\d+) (\d+) (\d+)/))
        let spent = (Int(ticks.3) ?? 0) + (Int(ticks.4) ?? 0) - (Int(ticks.1) ?? 0) - (Int(ticks.2) ?? 0)
        #expect(spent <= 2, "\(text)")
        #expect(
            text.contains("keychain_sync_member 1\n") && text.contains("# TYPE keychain_sync_written_total counter"))
        let memory = text.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) }
        // A debug build; the figure of a release build is in Benchmarks/RESULTS.md.
        #expect((memory ?? .max) < 150_000, "\(text)")
    }
}
#endif
