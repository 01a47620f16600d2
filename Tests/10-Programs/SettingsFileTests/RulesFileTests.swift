import Broker
import Foundation
import SettingsFile
import TestSupport
import Testing

/// What a project may write into its file of rules, from its bytes to the rules.
@Suite struct RulesFileTests {
    private let now = Date(timeIntervalSince1970: 1_000)

    private struct Problem: Error { var text: String }

    private func file(_ bytes: [UInt8]) throws -> RulesFile {
        switch TOMLFile.read(bytes) {
        case .problem(let line, let reason): throw Problem(text: "line \(line): \(reason)")
        case .table(let members):
            do throws(BrokerRule.Problem) {
                return try RulesFile(members, now: now)
            } catch {
                throw Problem(text: error.description)
            }
        }
    }

    private func problem(_ text: String) -> String? {
        do {
            _ = try file(Array(text.utf8))
            return nil
        } catch {
            return (error as? Problem)?.text ?? "\(error)"
        }
    }

    private static let rule = """
        variable = "GH_TOKEN"
        secret = "keychain://api.github.com/agent"
        to = "https://api.github.com/repos/me/*"

        """
    private static let begin = "version = 1\n[[rule]]\n" + rule
    private static let named = "version = 1\n[[rule]]\nvariable = \"A\"\nsecret = \"B\"\n"

    private static let wrong: [(String, String)] = [
        ("", "it does not say 'version = 1'"),
        ("[[rule]]\n\(rule)", "it does not say 'version = 1'"),
        ("version = 2\n[[rule]]\n\(rule)", "it has version 2, and this keychain knows 1 alone"),
        ("version = \"1\"\n[[rule]]\n\(rule)", "it does not say 'version = 1'"),
        ("version = 1\n", "it has no rule"), ("version = 1\nrule = []\n", "it has no rule"),
        ("version = 1\nrule = \"x\"\n", "it has no rule"),
        ("version = 1\nrule = [\"TOKEN=keychain://a/b\"]\n", "rule 1 is text"),
        ("version = 1\nothers = \"allow\"\n[[rule]]\n\(rule)", "it has others = \"allow\": use refuse"),
        ("version = 1\nothers = true\n[[rule]]\n\(rule)", "it has true or false as 'others'"),
        ("version = 1\nisolated = false\n[[rule]]\n\(rule)", "it has the key 'isolated': use others, rule, version"),
        ("\(begin)method = \"GET\"", "rule 1 has the key 'method': use ask, at, in"),
        ("\(begin)[[rule]]\n\(rule)x = 1", "rule 2 has the key 'x'"),
        ("\(begin)\"ti\\u0000mes\" = 1", "rule 1 has the key 'ti'"),
        ("version = 1\n[[rule]]\nvariable = \"A\"", "rule 1 does not say 'secret'"),
        ("version = 1\n[[rule]]\nsecret = \"A\"", "rule 1 does not say 'variable'"),
        (named, "rule 1 does not say 'to'"),
        ("version = 1\n[[rule]]\nvariable = 1\n", "rule 1 has a number as 'variable': write text in quotes"),
        ("\(named)to = 1", "rule 1 has a number as 'to'"), ("\(named)to = []", "rule 1 has a list as 'to'"),
        ("\(named)to = [1]", "rule 1 has a number as 'to'"),
        ("\(named)to = \"ftp://x\"", "rule 1 has 'ftp://x' as a server"),
        ("\(named)to = \"https://a to https://b\"", "rule 1 has 'https://a to https://b' as a server"),
        ("\(begin)at = \"x\"", "rule 1 has 'x' as an IP address"),
        ("\(begin)at = [\"1.1.1.1\"]", "rule 1 has a list as 'at'"),
        ("\(begin)in = \"cookie\"", "rule 1 has 'cookie' as a place"),
        ("\(begin)in = \"query,form\"", "rule 1 has 'query,form' as a place"),
        ("\(begin)methods = [\"G T\"]", "rule 1 has 'G T' as a method"),
        ("\(begin)times = 0", "rule 1 has 'times 0'"),
        ("\(begin)times = 1.5", "rule 1 has a number with a point as 'times'"),
        ("\(begin)times = \"1\"", "rule 1 has text as 'times': write a number"),
        ("\(begin)until = 2026-12-31T18:00:00Z", "rule 1 has a date or a time without quotes"),
        ("\(begin)until = \"soon\"", "rule 1 has 'until soon'"),
        ("\(begin)until = \"1969-01-01T00:00:00Z\"", "which is over"),
        ("\(begin)until = \"+1s\"", "rule 1 has 'until +1s'"),
        ("\(begin)until = \"\(String(repeating: "0", count: 5_000))8h\"", "rule 1 has 'until' with more than 32 bytes"),
        (
            "version = 1\n[[rule]]\nvariable = \"\(String(repeating: "A", count: 65))\"\nsecret = \"B\"\nto = \"https://a\"",
            "rule 1 names a variable with more than 64 bytes"
        ),
        ("\(begin)ask = \"yes\"", "rule 1 has text as 'ask': write true or false"),
        ("\(begin)\(rule)", "line 6:"), ("version = 1\nversion = 1", "line 2:"),
        ("version = 1\n[[rule]\n", "line 2:"), ("version = 1 # \u{0}\n", "line 1: has a control character"),
        ("version = 1\n# \u{1B}[2J\n", "line 2: has a control character"),
    ]

    /// A rule of a file is the same value as the rule of a command line that says the same.
    @Test func aRuleIsThatOfACommandLine() throws {
        let file = try file(
            Array(
                """
                # What programs of this project may use.
                version = 1
                others = "inspect"

                [[rule]]
                variable = "GH_TOKEN"
                secret = "keychain://api.github.com/agent"
                to = ["https://API.github.com/repos/me/*", "http://other.example:8080"]
                at = "10.0.0.5"
                in = ["authorization", "header:X-Key"]
                methods = ["GET", "head"]
                times = 20
                until = "8h"
                ask = true

                [[rule]]
                variable = 'KEY'
                secret = "keychain://b/c"
                to = "https://b.example"
                """.utf8))
        #expect(file.others == .inspect)
        #expect(
            file.rules == [
                try BrokerRule(
                    "GH_TOKEN=keychain://api.github.com/agent to https://api.github.com/repos/me/* at 10.0.0.5 to "
                        + "http://other.example:8080 at 10.0.0.5 in authorization,header:x-key methods GET,HEAD times 20 "
                        + "until 8h ask", now: now),
                try BrokerRule("KEY=keychain://b/c to https://b.example", now: now),
            ])
        #expect(try self.file(Array(Self.begin.utf8)).others == .refuse)
    }

    /// Each mistake is refused, and the message says where it is and what it is.
    @Test(arguments: wrong)
    func mistakes(text: String, words: String) {
        let found = problem(text)
        #expect(found?.contains(words) == true, "\(found ?? "no problem")")
    }

    @Test func bytesThatAreNoText() {
        #expect(TOMLFile.read([0xFF, 0x0A]) == .problem(line: 1, reason: "is not UTF-8"))
        let long = [UInt8](repeating: 0x23, count: FileReading.longest + 1)
        #expect(TOMLFile.read(long) == .problem(line: 1, reason: "has more than 64 KiB"))
    }

    @Test func depth() {
        let deep = "a = " + String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        guard case .table(let members) = TOMLFile.read(Array(deep.utf8)) else {
            Issue.record("200 lists in each other are TOML")
            return
        }
        #expect(members.map(\.key) == ["a"])
        let beyond = "a = " + String(repeating: "[", count: 30_000)
        guard case .problem = TOMLFile.read(Array(beyond.utf8)) else {
            Issue.record("30,000 open lists were read")
            return
        }
    }

    /// The parts of a key, each of which the library takes for a table in another: in one line, and in lists of lines.
    @Test func longKeys() {
        let key = "a" + String(repeating: ".a", count: 30_000)
        let reason = "has more than 1000 points in a line"
        for text in ["# \n\(key) = 1", "# \n[\(key)]", "# \n[[\(key)]]", "# \nx = { \(key) = 1 }"] {
            #expect(TOMLFile.read(Array(text.utf8)) == .problem(line: 2, reason: reason), "\(text.prefix(20))")
        }
        let short = "a" + String(repeating: ".a", count: 999)
        let deep = String(repeating: "{ \(short) = [\n", count: 6) + String(repeating: "] }", count: 6)
        let inAll = FileReading.problem(line: 6, reason: "has more than 5000 points in all up to here")
        #expect(TOMLFile.read(Array("x = [\(deep)]".utf8)) == inAll)
        guard case .table = TOMLFile.read(Array("\(short) = 1".utf8)) else {
            Issue.record("a key of 1,000 parts is TOML")
            return
        }
    }

    /// More rules than there may be, in as few bytes as they take.
    @Test func manyRules() {
        #expect(problem("version = 1\n" + String(repeating: "[[rule]]\n", count: 101))?.contains("101 rules") == true)
    }

    private static let texts = [
        "", "A", "GH_TOKEN", "keychain://a/b", "https://a.example", "https://*.a.example/v1/*", "http://a:99999", "8h",
        "-1",
        "authorization", "header:x", "header:", "GET", "refuse", "10.0.0.1", "::1", "a\u{0}b", "\u{202E}",
        "to https://b",
    ]
    private static let keys = [
        "version", "others", "rule", "variable", "secret", "to", "at", "in", "methods", "times", "until", "ask",
        "keeps", "x",
    ]

    private static func value(_ depth: Int) -> FileValue {
        switch Int.random(in: 0..<(depth > 3 ? 4 : 6)) {
        case 0: .text(texts.randomElement() ?? "")
        case 1: .number([0, 1, -1, .max, .min].randomElement() ?? 0)
        case 2: .flag(.random())
        case 3: .other("a date")
        case 4: .list((0..<Int.random(in: 0...3)).map { _ in value(depth + 1) })
        default: .table(members(depth + 1))
        }
    }

    private static func members(_ depth: Int) -> [FileValue.Member] {
        (0..<Int.random(in: 0...5)).map { _ in FileValue.Member(keys.randomElement() ?? "", value(depth)) }
    }

    /// Whatever the values are, there is an answer. Whatever becomes a rule is whole, and travels as it is.
    @Test func anyValues() throws {
        let whole: [(String, FileValue)] = [
            ("variable", .text("A")), ("secret", .text("keychain://a/b")), ("to", .text("https://a.example")),
        ]
        var accepted = 0
        for _ in 0..<TestScale.count(20_000, soak: 1_000_000) {
            var rule = whole.map { FileValue.Member($0, $1) }
            if .random() { rule.append(FileValue.Member(Self.keys.randomElement() ?? "", Self.value(1))) }
            if .random() { rule[Int.random(in: 0..<rule.count)].value = Self.value(1) }
            var members = [FileValue.Member("version", .number(1)), .init("rule", .list([.table(rule)]))]
            if Int.random(in: 0..<4) == 0 { members += Self.members(1) }
            let copy = try JSONDecoder().decode(
                FileReading.self, from: JSONEncoder().encode(FileReading.table(members)))
            #expect(copy == .table(members))
            switch Result(catching: { () throws(BrokerRule.Problem) in try RulesFile(members, now: now) }) {
            case .success(let file):
                accepted += 1
                for rule in file.rules {
                    #expect(!rule.destinations.isEmpty && !rule.places.isEmpty && rule.times.map { $0 > 0 } ?? true)
                }
                #expect(
                    try JSONDecoder().decode([BrokerRule].self, from: JSONEncoder().encode(file.rules)) == file.rules)
            case .failure(let problem):
                #expect(problem.description.hasPrefix("it ") || problem.description.hasPrefix("rule 1 "), "\(problem)")
            }
        }
        #expect(accepted > 100)
    }
}
