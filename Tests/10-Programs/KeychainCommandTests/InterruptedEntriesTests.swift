import Foundation
import Glibc
import TestSupport
import Testing

/// `keychain import` of another password manager's file, killed on its way.
@Suite struct InterruptedEntriesTests {
    /// Each with a login, a one-time code, a former password and a private field.
    private static let entries = TestScale.count(600, soak: 5_000)

    private static func workplace() throws -> Workplace {
        let workplace = try Workplace()
        let made = try workplace.shell(
            """
            /usr/bin/python3 - \(entries) <<'END'
            import json, sys
            items = [{"type": 1, "name": "Site %d" % n, "notes": "a note", "fields": [{"name": "pin", "value": "%d" % n, "type": 1}],
                "passwordHistory": [{"password": "old", "lastUsedDate": "2023-01-01T10:00:00.000Z"}],
                "login": {"username": "user", "password": "password %d" % n, "uris": [{"uri": "https://site%d.example" % n}],
                    "totp": "JBSWY3DPEHPK3PXP"}} for n in range(int(sys.argv[1]))]
            json.dump({"encrypted": False, "items": items}, open("all.json", "w"))
            END
            keychain init > /dev/null
            """)
        try #require(made.status == 0, "\(made.errors)")
        return workplace
    }

    /// Of each entry all three items are there, or none; another import brings the rest.
    @Test func anImportIsCompletedByAnotherOne() throws {
        let workplace = try Self.workplace()
        let start = ContinuousClock.now
        #expect(try workplace.shell("keychain import all.json").text == "\(Self.entries) stored\n")
        // Up to somewhat longer than it takes.
        let time = (ContinuousClock.now - start) / .microseconds(1) * 1.1
        var (between, generator) = (0, SeededGenerator())
        for _ in 0..<TestScale.count(5, soak: 100) {
            _ = try workplace.shell("rm -rf \"$KEYCHAIN_HOME\"; keychain init")
            var program = workplace.start(["keychain", "import", "all.json"])
            program.folder = workplace.path
            let process = try program.start { actions in
                for descriptor in Int32(0)...2 {
                    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
                }
            }
            usleep(useconds_t(Double.random(in: 0...time, using: &generator)))
            kill(process, SIGKILL)
            ProgramStart.wait(for: process)
            let present = try Self.wholeEntries(workplace)
            if present > 0, present < Self.entries { between += 1 }
            let again = try workplace.shell("keychain import all.json")
            #expect(again.status == 0, "\(again.errors)")
            let stored = Self.entries - present
            let parts = [stored > 0 ? "\(stored) stored" : "", present > 0 ? "\(present) here already" : ""]
            #expect(again.text == parts.filter { !$0.isEmpty }.joined(separator: ", ") + "\n")
        }
        #expect(between >= TestScale.count(0, soak: 11), "no import was killed on its way")
        #expect(try workplace.shell("keychain import all.json").text == "\(Self.entries) here already\n")
    }

    /// Returns how many entries there are, of which none may lack a part.
    private static func wholeEntries(_ workplace: Workplace) throws -> Int {
        let outcome = try workplace.shell(
            """
            keychain export --format cxf 2>/dev/null | /usr/bin/python3 -c '
            import json, sys
            text = sys.stdin.read()
            items = json.loads(text)["accounts"][0]["items"] if text else []
            parts = {"basic-auth", "note", "totp", "custom-fields", "generated-password"}
            print(len(items), sum(parts <= {part["type"] for part in item["credentials"]} for item in items))'
            """)
        let numbers = outcome.text.split { $0.isWhitespace }.compactMap { Int($0) }
        try #require(numbers.count == 2, "\(outcome.errors)")
        #expect(numbers[0] == numbers[1], "an entry was stored in part")
        return numbers[0]
    }
}
