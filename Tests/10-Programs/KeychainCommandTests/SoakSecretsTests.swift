import Foundation
import TestSupport
import Testing

/// The Secret Service of `keychaind` under load, and with messages that were changed on the way.
@Suite(.serialized) struct SoakSecretsTests {
    /// Every client finds what it stored, and nothing else: at full counts 64 of them, 100,000 items, ten minutes.
    @Test(arguments: ServedSecretsTests.Place.allCases)
    func everyAnswerIsRight(_ place: ServedSecretsTests.Place) throws {
        let (clients, items) = (TestScale.count(8, soak: 64), TestScale.count(12, soak: 1_563))
        let outcome = try ServedSecretsTests().served(
            place, seconds: TestScale.isSoak ? 3_000 : 100,
            "/usr/bin/python3 '\(ServedSecretsTests.peer)' work \(clients) \(items) \(TestScale.count(2, soak: 600))")
        #expect(outcome.text == "\(clients) clients, 0 failed\n", "\(outcome.errors)")
    }

    /// At full counts a million messages. Without the program's share, of which each refusal and each connection that
    /// ends takes much: what is tested is what reads the messages.
    @Test func changedMessages() throws {
        let outcome = try ServedSecretsTests().served(
            .socket, options: "--rate 0", seconds: TestScale.isSoak ? 3_000 : 100,
            "/usr/bin/python3 '\(ServedSecretsTests.peer)' fuzz \(TestScale.count(5_000, soak: 1_000_000)) 1")
        #expect(outcome.text == "the honest program was answered\n", "\(outcome.errors)")
    }
}
