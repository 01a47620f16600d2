import Foundation
import TestSupport
import Testing

/// The command as a program: what it prints and how it exits.
@Suite struct ConformanceCommandTests {
    private static let passing = """
        {"id": "p", "area": "good", "steps": [{"op": "copy", "query": {}, "expect": {"status": -50}}]}
        """
    private static let failing = """
        {"id": "f", "area": "bad", "steps": [{"op": "copy", "query": {}, "expect": {"status": -50}},
         {"op": "copy", "query": {}, "expect": {"status": 0}}]}
        """

    /// Runs the command on a file with `cases`, or without a file.
    private func run(_ cases: [String]?, _ arguments: String...) throws -> ProgramOutcome {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("cases.json")
        if let cases {
            let text = #"{"format": "secitem-conformance", "version": 1, "cases": [\#(cases.joined(separator: ","))]}"#
            try Data(text.utf8).write(to: file)
        }
        // The tests and the command are built into the same folder.
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("keychain-conformance")
        return try ProgramStart([program.path, file.path] + arguments).run()
    }

    @Test func passes() throws {
        let run = try run([Self.passing])
        #expect(run.status == 0)
        #expect(run.text == "1 passed, 0 failed\n")
    }

    @Test func fails() throws {
        let run = try run([Self.passing, Self.failing])
        #expect(run.status == 1)
        #expect(run.text.split(separator: "\n").last == "1 passed, 1 failed")
        #expect(run.text.contains("FAIL f [bad] step 2 (copy): expected status 0, got status -50"))
    }

    @Test func limitsToAnArea() throws {
        #expect(try run([Self.passing, Self.failing], "--area", "good").status == 0)
        let none = try run([Self.passing], "--area", "nowhere")
        #expect(none.status == 1)
        #expect(none.text.split(separator: "\n").last == "0 passed, 0 failed")
    }

    @Test func runsOnDisk() throws {
        #expect(try run([Self.passing], "--store", "disk").status == 0)
    }

    @Test func runsThroughTheDaemon() throws {
        let run = try run([Self.passing], "--store", "daemon")
        #expect(run.status == 0)
    }

    @Test func saysWhatIsWrongWithAFile() throws {
        let missing = try run(nil)
        #expect(missing.status == 1)
        #expect(missing.errors.contains("cannot read"))
        let malformed = try run([#"{"id": "x"}"#])
        #expect(malformed.status == 1)
        #expect(malformed.errors.contains("case x has no \"area\""))
    }

    @Test func reportsForPrograms() throws {
        let run = try run([Self.passing, Self.failing], "--json")
        #expect(run.status == 1)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(run.text.utf8)) as? [String: Any])
        #expect(report["passed"] as? Int == 1)
        #expect(report["failed"] as? Int == 1)
        let cases = try #require(report["cases"] as? [[String: Any]])
        #expect(cases.map { $0["id"] as? String } == ["p", "f"])
        let failure = try #require(cases.last?["failure"] as? [String: Any])
        #expect(failure["step"] as? Int == 2)
        #expect(failure["got"] as? String == "status -50")
    }
}
