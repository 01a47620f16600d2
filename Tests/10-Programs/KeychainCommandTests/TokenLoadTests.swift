import Foundation
import TestSupport
import Testing

/// Many programs, and one that takes everything, on one key through the PKCS #11 module and a daemon.
@Suite struct TokenLoadTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    /// For programs that are not `/usr/bin/python3` to the daemon.
    private static let copies = """
        for name in one two; do cp -L /usr/bin/python3 $name; done; keychain key create web --enclave --group web
        # Kibibytes of memory and descriptors of the daemon.
        figures() { echo $(awk '/VmRSS/ { print $2 }' /proc/$daemon/status) $(ls /proc/$daemon/fd | wc -l); }

        """

    private var entitlements: String {
        let home = place.workplace.path
        let rules = ["one", "two"].map {
            #"{"executable": "\#(home)/\#($0)", "groups": ["web"], "rights": ["list"]}"#
        }
        return #"{"version": 1, "rules": [\#(rules.joined(separator: ", "))]}"#
    }

    /// The numbers of the line that begins with `name`.
    private func numbers(_ name: String, _ outcome: ProgramOutcome) throws -> [Int] {
        let line = try #require(
            Transcript.lines(outcome.text).first { $0.hasPrefix(name + " ") }, "\(outcome.text)\(outcome.errors)")
        return line.split(separator: " ").compactMap { Int($0) }
    }

    @Test func threadsAndProcessesShareAKey() throws {
        let (threads, seconds) = (TestScale.count(16, soak: 64), TestScale.count(3, soak: 600))
        let processes = TestScale.count(4, soak: 16)
        let outcome = try place.served(
            entitlements: entitlements,
            Self.copies + """
                peer_python=./one peer processes 2 1 > log; echo before $(figures)
                peer_python=./one peer threads \(threads) \(seconds) & many=$!
                peer_python=./two peer processes \(processes) \(seconds) && echo processes
                wait $many && echo threads; sleep 1; echo after $(figures)
                """, seconds: seconds + 200)
        let (before, after) = (try numbers("before", outcome), try numbers("after", outcome))
        #expect(outcome.text.contains("processes\n") && outcome.text.contains("threads\n"), "\(outcome.errors)")
        try #require(before.count == 2 && after.count == 2)
        #expect(after[0] - before[0] < 128 << 10, "the daemon grew from \(before[0]) to \(after[0]) KiB")
        #expect(after[1] - before[1] < 8, "the daemon had \(before[1]) descriptors and has \(after[1])")
    }

    /// A program that opens all sessions, and connections without end, delays another one, and does not keep it out.
    @Test func aGreedyProgramLeavesRoomForAnother() throws {
        let (seconds, processes) = (TestScale.count(4, soak: 60), TestScale.count(4, soak: 16))
        let outcome = try place.served(
            entitlements: entitlements,
            Self.copies + """
                echo alone $(peer_python=./one peer waits \(seconds))
                peer_python=./two peer greedy \(processes) 64 \(seconds + 3) > greedy.log & greedy=$!
                opened() { [ "$(grep -c sessions greedy.log)" = \(processes) ]; }; eventually opened
                echo beside $(peer_python=./one peer waits \(seconds)); wait $greedy
                echo again $(peer_python=./one peer waits 1)
                """, seconds: seconds + 200)
        let (alone, beside) = (try numbers("alone", outcome), try numbers("beside", outcome))
        try #require(alone.count == 4 && beside.count == 4, "\(outcome.text)\(outcome.errors)")
        // The median, the 99th percentile, the longest, and the number of signatures.
        #expect(beside[2] < 5_000_000, "the longest took \(beside[2]) µs, and \(alone[2]) µs alone")
        #expect(try numbers("again", outcome).count == 4)
    }
}
