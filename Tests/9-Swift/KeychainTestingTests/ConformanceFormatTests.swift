import Foundation
import KeychainTesting
import Testing

@Suite struct ConformanceFormatTests {
    private func suite(_ steps: String, env: String = "{}") throws -> ConformanceSuite {
        try ConformanceSuite(
            decoding: Data(
                """
                {"format": "secitem-conformance", "version": 1,
                 "cases": [{"id": "one", "area": "area", "env": \(env), "steps": [\(steps)]}]}
                """.utf8))
    }

    private func failure(_ steps: String, env: String = "{}") throws -> ConformanceReport.Failure? {
        let results = try suite(steps, env: env).run().results
        #expect(results.count == 1)
        return results.first?.failure
    }

    private static let genp = #""kSecClass": {"const": "kSecClassGenericPassword"}"#
    private static let add = """
        {"op": "add", "query": {\(genp), "kSecAttrAccount": "ada", "kSecAttrPort": 0},
         "expect": {"status": -25303}},
        {"op": "add", "query": {\(genp), "kSecAttrAccount": "ada", "kSecAttrType": 7, "kSecValueData": {"data": "AQID"},
         "kSecReturnAttributes": true}, "expect": {"status": 0}, "save": "added"}
        """

    private static func copy(_ flags: String, _ expect: String) -> String {
        """
        \(add), {"op": "copy", "query": {\(genp), "kSecAttrAccount": "ada"\(flags)}, "expect": \(expect)}
        """
    }

    private static let data = #", "kSecReturnData": true"#
    private static let attributes = #", "kSecReturnAttributes": true"#
    private static let all = #", "kSecReturnData": true, "kSecMatchLimit": {"const": "kSecMatchLimitAll"}"#

    /// Right and wrong sides of one expectation.
    static let expectations: [(flags: String, right: String, wrong: String)] = [
        (data, #"{"status": 0}"#, #"{"status": -25300}"#),
        (data, #"{"status": {"oneOf": [-50, 0]}}"#, #"{"status": {"oneOf": [-50, -25300]}}"#),
        (data, result(#""type": "data""#), result(#""type": "string""#)),
        (data, result(#""equals": {"data": "AQID"}"#), result(#""equals": {"data": "AQIE"}"#)),
        (data, result(#""length": 3"#), result(#""length": 4"#)),
        (data, result(#""maxLength": 3"#), result(#""maxLength": 2"#)),
        (data, result(#""minLength": 3"#), result(#""minLength": 4"#)),
        (data, result(#""prefixBytes": {"data": "AQI="}"#), result(#""prefixBytes": {"data": "AgM="}"#)),
        (
            data, result(#""anyOf": [{"type": "null"}, {"length": 3}]"#),
            result(#""anyOf": [{"type": "null"}, {"length": 4}]"#)
        ),
        ("", result(#""type": "null""#), result(#""type": "data""#)),
        (data, result(#""type": "data""#), result(#""type": "null""#)),
        (all, result(#""count": 1"#), result(#""count": 0"#)),
        (all, result(#""each": {"length": 3}"#), result(#""each": {"length": 2}"#)),
        (
            all, result(#""unordered": [{"data": "AQID"}]"#),
            result(#""unordered": [{"data": "AQID"}, {"data": "AQID"}]"#)
        ),
        (attributes, result(#""type": "dictionary""#), result(#""type": "array""#)),
        (
            attributes, result(#""contains": {"kSecAttrAccount": "ada"}"#),
            result(#""contains": {"kSecAttrAccount": "bob"}"#)
        ),
        (attributes, result(#""contains": {"kSecAttrType": 7}"#), result(#""contains": {"kSecAttrType": "7"}"#)),
        (
            attributes, result(#""contains": {"kSecAttrSynchronizable": false}"#),
            result(#""contains": {"kSecAttrSynchronizable": true}"#)
        ),
        (
            attributes, result(#""contains": {"kSecAttrAccessible": {"const": "kSecAttrAccessibleWhenUnlocked"}}"#),
            result(#""contains": {"kSecAttrAccessible": {"const": "kSecAttrAccessibleAlways"}}"#)
        ),
        (attributes, result(#""keysPresent": ["kSecAttrType"]"#), result(#""keysPresent": ["kSecAttrLabel"]"#)),
        (attributes, result(#""keysAbsent": ["kSecAttrLabel"]"#), result(#""keysAbsent": ["kSecAttrType"]"#)),
        (
            attributes, result(#""valueTypes": {"kSecAttrType": "number"}"#),
            result(#""valueTypes": {"kSecAttrType": "string"}"#)
        ),
        (
            attributes, result(#""valueTypes": {"kSecAttrAccessControl": "ref"}"#),
            result(#""valueTypes": {"kSecAttrLabel": "ref"}"#)
        ),
        (attributes, result(#""datesNear": ["kSecAttrCreationDate"]"#), result(#""datesNear": ["kSecAttrType"]"#)),
        (
            attributes, result(#""datesNear": {"kSecAttrCreationDate": "now"}"#),
            result(#""datesNear": {"kSecAttrCreationDate": {"date": "2001-01-01T00:00:00Z"}}"#)
        ),
        (
            attributes, result(#""equalKeys": [["kSecAttrCreationDate", "kSecAttrModificationDate"]]"#),
            result(#""equalKeys": [["kSecAttrCreationDate", "kSecAttrAccount"]]"#)
        ),
        (
            attributes, result(#""equalsSavedKeys": {"kSecAttrAccount": ["added", "kSecAttrAccount"]}"#),
            result(#""equalsSavedKeys": {"kSecAttrAccount": ["added", "kSecAttrAccessible"]}"#)
        ),
        (
            attributes, result(#""notEqualsSavedKeys": {"kSecAttrAccount": ["added", "kSecAttrAccessible"]}"#),
            result(#""notEqualsSavedKeys": {"kSecAttrAccount": ["added", "kSecAttrAccount"]}"#)
        ),
        (
            attributes, result(#""greaterThanSavedKeys": {"kSecAttrType": ["added", "kSecAttrSynchronizable"]}"#),
            result(#""greaterThanSavedKeys": {"kSecAttrCreationDate": ["added", "kSecAttrCreationDate"]}"#)
        ),
        (attributes, result(#""notEqualsSaved": "added""#), result(#""equalsSaved": "added""#)),
    ]

    private static func result(_ matcher: String) -> String {
        #"{"status": 0, "result": {\#(matcher)}}"#
    }

    @Test(arguments: expectations.indices)
    func anExpectationHoldsOrFails(index: Int) throws {
        let (flags, right, wrong) = Self.expectations[index]
        #expect(try failure(Self.copy(flags, right)) == nil)
        let failed = try #require(try failure(Self.copy(flags, wrong)), "\(wrong) passes")
        #expect(failed.step == 3)
        #expect(failed.operation == "copy")
    }

    @Test(arguments: [
        #"{"op": "frobnicate", "expect": {"status": 0}}"#,
        #"{"op": "key.frobnicate", "expect": {"status": 0}}"#,
        #"{"op": "copy", "query": {"kSecNothing": 1}, "expect": {"status": -50}}"#,
        #"{"op": "copy", "query": {"kSecClass": {"const": "kSecNothing"}}, "expect": {"status": -25306}}"#,
        #"{"op": "copy", "query": {"kSecAttrAccount": {"thing": 1}}, "expect": {"status": -50}}"#,
        #"{"op": "copy", "query": {"kSecAttrAccount": {"ref": "nobody"}}, "expect": {"status": -50}}"#,
        #"{"op": "copy", "query": {}, "extra": 1, "expect": {"status": -50}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": -50, "mood": "good"}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": -50, "result": {"like": 1}}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": -50, "result": {"anyOf": [{"type": "null"}, {"like": 1}]}}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": -50, "result": {"each": {"like": 1}}}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": -50, "result": {"type": "nothing"}}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": -50, "result": {}}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": "fine"}}"#,
        #"{"op": "copy", "query": {}, "expect": {"status": {"anyOf": [-50]}}}"#,
        #"{"op": "const", "name": "kSecNothing", "equals": "x", "expect": {"status": 0}}"#,
        #"{"op": "const", "name": "errSecParam", "equals": -51, "expect": {"status": 0}}"#,
        #"{"op": "const", "name": "kSecAttrAccount", "equals": "accT", "expect": {"status": 0}}"#,
        #"{"op": "ac.create", "protection": "kSecAttrAccessibleAlways", "flags": ["always"], "expect": {"status": 0}}"#,
        #"{"op": "device.frobnicate", "expect": {"status": 0}}"#,
    ])
    func whatIsNotKnownFails(step: String) throws {
        #expect(try failure(step)?.step == 1)
    }

    @Test(arguments: [
        #"{"weather": "fine"}"#, #"{"auth": "shrug"}"#, #"{"biometry": "nose"}"#, #"{"lockState": "ajar"}"#,
        #"{"accessGroups": "one"}"#, #"{"passcodeSet": 1}"#,
    ])
    func anUnknownEnvironmentFails(env: String) throws {
        let step = #"{"op": "copy", "query": {}, "expect": {"status": -50}}"#
        #expect(try failure(step)?.step == nil)
        #expect(try failure(step, env: env)?.step == 0)
    }

    @Test func anUnknownMemberOfACaseFails() throws {
        let step = #"{"op": "copy", "query": {}, "expect": {"status": -50}}"#
        let file = """
            {"format": "secitem-conformance", "version": 1, "cases": [
             {"id": "a", "area": "x", "stages": [], "steps": [\(step)]}, {"id": "b", "area": "x", "steps": [\(step)]}]}
            """
        let report = try ConformanceSuite(decoding: Data(file.utf8)).run()
        #expect(report.failures.map(\.identifier) == ["a"])
        #expect(report.summary == "1 passed, 1 failed")
    }

    @Test(arguments: [
        "", "no JSON", "[]", "{}", #"{"format": "secitem-conformance", "version": 1}"#,
        #"{"format": "secitem-conformance", "version": 2, "cases": []}"#,
        #"{"format": "other", "version": 1, "cases": []}"#,
        #"{"format": "secitem-conformance", "version": 1, "cases": [5]}"#,
        #"{"format": "secitem-conformance", "version": 1, "cases": [{"id": "a", "area": "b"}]}"#,
        #"{"format": "secitem-conformance", "version": 1, "cases": [{"id": "a", "area": "b", "steps": []}]}"#,
        #"{"format": "secitem-conformance", "version": 1, "cases": [{"id": "a", "area": "b", "steps": [{"op": "copy"}]}]}"#,
    ])
    func aMalformedFileIsRefused(text: String) {
        #expect(throws: ConformanceError.self) { try ConformanceSuite(decoding: Data(text.utf8)) }
    }

    @Test func aMissingFileIsRefused() {
        #expect(throws: ConformanceError.self) {
            try ConformanceSuite(contentsOf: URL(fileURLWithPath: "/nonexistent/cases.json"))
        }
    }

    @Test(arguments: [ConformanceStore.disk, .daemon])
    func nothingIsLeftBehind(_ store: ConformanceStore) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = try suite(Self.add).run(on: store, temporaryFolder: folder)
        #expect(report.failures.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
