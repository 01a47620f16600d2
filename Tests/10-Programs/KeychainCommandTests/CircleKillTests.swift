import Foundation
import TestSupport
import Testing

/// Real processes that carry a circle's items, and are killed.
@Suite struct CircleKillTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
        let outcome = try workplace.shell(
            """
            mkdir Sync
            one() { KEYCHAIN_HOME=$HOME/one keychain "$@"; }; two() { KEYCHAIN_HOME=$HOME/two keychain "$@"; }
            one circle create --folder Sync --name one && one circle invite > words &&
            two circle join --folder Sync --name two --words-fd 3 3< words && one circle approve --yes && two circle sync
            """)
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    /// Kills `sync` at any moment, on both sides, also while others add items: nothing that was stored is missing in
    /// the end, and nothing is there that was not stored.
    @Test func aKilledCarrierLosesNothing() throws {
        let rounds = TestScale.count(15, soak: 1_000)
        var random = SeededGenerator()
        for round in 0..<rounds {
            let delay = Double.random(in: 0...0.04, using: &random)
            let (first, second) = Bool.random(using: &random) ? ("one", "two") : ("two", "one")
            let outcome = try workplace.shell(
                """
                printf 'value \(round)' | KEYCHAIN_HOME=$HOME/\(first) keychain set service \(round) --synchronizable
                for home in \(first) \(second); do
                    KEYCHAIN_HOME=$HOME/$home keychain circle sync > /dev/null 2>&1 & pid=$!
                    sleep \(delay); kill -9 $pid 2> /dev/null; wait $pid 2> /dev/null
                done
                true
                """)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let end = try workplace.shell(
            """
            for home in one two one two; do KEYCHAIN_HOME=$HOME/$home keychain circle sync --json; done
            for home in one two; do
                for round in $(seq 0 \(rounds - 1)); do KEYCHAIN_HOME=$HOME/$home keychain get service $round; echo; done > $home.txt
                KEYCHAIN_HOME=$HOME/$home keychain status --verify > /dev/null
            done
            cmp one.txt two.txt && wc -l < one.txt
            """)
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.text.hasSuffix("\n\(rounds)\n"), "\(end.text)")
        #expect(!end.text.contains("refused\":1") && end.text.contains("\"alarms\":[]"))
        let values = try String(contentsOfFile: workplace.path + "/one.txt", encoding: .utf8)
        #expect(values == (0..<rounds).map { "value \($0)\n" }.joined())
    }

    /// At rest, a carrier that watches takes no processor time worth naming, and does not wake itself.
    @Test func watchingCostsNothing() throws {
        let outcome = try workplace.shell(
            """
            KEYCHAIN_HOME=$HOME/one keychain circle sync --watch --every 60 > watched & pid=$!
            sleep 1; before=$(cut -d' ' -f14,15 /proc/$pid/stat); sleep 2; after=$(cut -d' ' -f14,15 /proc/$pid/stat)
            printf seen | KEYCHAIN_HOME=$HOME/one keychain set service watched --synchronizable
            for try in $(seq 50); do grep -q 'sent: 1' watched && break; sleep 0.1; done
            kill $pid; echo "$before" "$after"; grep -c 'sent: 1' watched
            """)
        let lines = outcome.text.split(separator: "\n")
        let ticks = try #require(lines.first).split(separator: " ").compactMap { Int($0) }
        #expect(ticks.count == 4 && ticks[2] + ticks[3] - ticks[0] - ticks[1] <= 2, "\(outcome.text)")
        #expect(lines.last == "1", "\(outcome.text)")
    }
}
