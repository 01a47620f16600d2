import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

@Suite struct OutputTests {
    @Test func readerThatGoesAwayIsAnErrorAndNotASilentDeath() throws {
        let workplace = try Workplace()
        _ = try workplace.run(["keychain", "set", "mail", "alice"], input: Data("hunter2".utf8))
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw WorkplaceError(operation: "pipe", errno: errno) }
        close(ends[0])
        defer { close(ends[1]) }
        let result = try workplace.run(["keychain", "get", "mail", "alice"], output: ends[1])
        #expect(result.status == 1)
        #expect(
            result.errors
                == "keychain: the reader of the output went away before everything was written: let it read to the end\n"
        )
    }

    @Test func secretIsByteForByteTheSame() throws {
        let workplace = try Workplace()
        let secret = Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        _ = try workplace.run(["keychain", "set", "key", "signing", "--raw"], input: secret)
        #expect(try workplace.run(["keychain", "get", "key", "signing"]).output == secret)
        let answer = try workplace.run(["keychain", "get", "key", "signing", "--json"]).output
        let fields = try #require(try JSONSerialization.jsonObject(with: answer) as? [String: String])
        #expect(fields["base64"].flatMap { Data(base64Encoded: $0) } == secret)
        #expect(fields["utf8"] == nil)
    }

    @Test func listInJSONIsAnArrayOfItems() throws {
        let workplace = try Workplace()
        for account in ["alice", "bob"] {
            _ = try workplace.run(["keychain", "set", "mail", account], input: Data("x".utf8))
        }
        let answer = try workplace.run(["keychain", "list", "--json"]).output
        let items = try #require(try JSONSerialization.jsonObject(with: answer) as? [[String: Any]])
        #expect(Set(items.compactMap { $0["account"] as? String }) == ["alice", "bob"])
        #expect(items.allSatisfy { $0["value"] == nil && $0["base64"] == nil })
    }

    @Test func damagedItemsCanBeDeleted() throws {
        let workplace = try Workplace()
        for account in ["alice", "bob"] {
            _ = try workplace.run(["keychain", "set", "mail", account], input: Data("of \(account)".utf8))
        }
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: workplace.home))
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET meta = x'00' WHERE id = 1") }
        try database.close()
        let broken = try workplace.run(["keychain", "status", "--verify"])
        #expect(broken.status == 1)
        #expect(broken.errors.contains("--delete-damaged"))
        let answer = try workplace.run(["keychain", "status", "--delete-damaged", "--json"])
        #expect(answer.status == 0)
        let status = try #require(try JSONSerialization.jsonObject(with: answer.output) as? [String: Any])
        let integrity = try #require(status["integrity"] as? [String: Any])
        #expect(integrity["deleted"] as? Int == 1)
        #expect(integrity["valid"] as? Int == 1)
        #expect(try workplace.run(["keychain", "get", "mail", "bob"]).output == Data("of bob".utf8))
        #expect(try workplace.run(["keychain", "get", "mail", "alice"]).status == 44)
    }

    /// A damaged key does not take the others with it.
    @Test func damagedKeysAreLeftOut() throws {
        let workplace = try Workplace()
        for label in ["broken", "whole"] { _ = try workplace.run(["keychain", "key", "create", label]) }
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: workplace.home))
        // Private halves are stored first.
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET meta = x'00' WHERE id IN (1, 2)") }
        try database.close()
        let list = try workplace.run(["keychain", "key", "list"])
        #expect(list.text.hasPrefix("whole\t"))
        #expect(list.errors == "keychain: 2 damaged items were left out: `keychain status --verify` names them\n")
        #expect(list.status == 1)
        let agent = ["keychain", "ssh-agent", "--socket", workplace.path + "/agent", "--", "ssh-add", "-L"]
        #expect(try workplace.run(agent).text.hasSuffix(" whole\n"))
    }

    /// Eight processes that write at once lose nothing and see no half-written item.
    @Test func manyProcessesStoreAtOnce() throws {
        let workplace = try Workplace()
        let script = """
            for n in 1 2 3 4 5 6 7 8; do (printf "secret $n" | keychain set mail "account $n" || echo failed) & done
            wait
            for n in 1 2 3 4 5 6 7 8; do keychain get mail "account $n"; echo; done
            """
        let expected = (1...8).map { "secret \($0)\n" }.joined()
        let outcome = try workplace.shell(script)
        #expect(outcome.text == expected)
        #expect(outcome.errors == "")
    }
}
