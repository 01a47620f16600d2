import Foundation
import TestSupport
import Testing

/// The PKCS #11 module in a program that uses it well and badly.
@Suite struct TokenModuleTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    private func run(_ words: String, seconds: Int = 280) throws -> ProgramOutcome {
        try place.shell("keychain key create web --enclave; peer \(words) && echo good", seconds: seconds)
    }

    /// Each function with nothing, with handles that are not there, with too little room, before C_Initialize and after
    /// C_Finalize returns what the standard says.
    @Test func misuse() throws {
        let outcome = try run("misuse")
        #expect(outcome.text == "good\n", "\(outcome.errors)")
    }

    @Test func anyCallIsAnswered() throws {
        let count = TestScale.count(20_000, soak: 1_000_000)
        let outcome = try run(
            "fuzz \(count) \(UInt32.random(in: 0...UInt32.max))", seconds: TestScale.count(280, soak: 3_000))
        #expect(outcome.text == "calls \(count)\ngood\n", "\(outcome.errors)")
    }

    @Test func threadsShareAKey() throws {
        let (threads, seconds) = (TestScale.count(16, soak: 64), TestScale.count(3, soak: 600))
        let outcome = try run("threads \(threads) \(seconds)", seconds: seconds + 200)
        #expect(outcome.text.hasSuffix("good\n"), "\(outcome.errors)")
    }

    /// The helper lives as long as any of the program's children. When it was killed, a child starts another one.
    @Test func childrenShareTheHelper() throws {
        let outcome = try place.shell(
            #"""
            keychain key create web --enclave
            peer family 20 | sort | uniq -c | tr -s ' '
            ends() { [ -z "$(ls run)" ] && ! pgrep -f "pkcs11-helper.*$HOME/run" >/dev/null; }
            eventually ends && echo ended
            peer bereaved && echo good
            """#)
        place.expect(outcome, [" 1 children 20 helpers 1", " 20 orphan 1", "ended", "good"])
    }

    /// A child has a connection of its own, whether it calls C_Initialize or not.
    @Test func childrenUseTheKey() throws {
        let outcome = try run("forks \(TestScale.count(20, soak: 1_000))", seconds: TestScale.count(280, soak: 3_000))
        #expect(outcome.text.hasSuffix("good\n"), "\(outcome.errors)")
    }

    @Test func sessionsLeaveNothing() throws {
        let outcome = try run(
            "sessions \(TestScale.count(500, soak: 10_000))", seconds: TestScale.count(280, soak: 3_000))
        #expect(outcome.text.hasSuffix("good\n"), "\(outcome.errors)")
    }
}
