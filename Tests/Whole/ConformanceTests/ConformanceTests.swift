import Foundation
import Testing

@testable import KeychainTesting

/// The project's own cases, on every kind of keychain there is.
@Suite struct ConformanceTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Cases")

    static let areas = [
        "access-control", "access-group", "accessible", "auth-ui", "backup", "certificate", "constants", "dates",
        "delete", "errors", "genp-basic", "genp-primary-key", "genp-search", "identity", "inet", "kat-ecies",
        "kat-rsa-oaep-aesgcm", "key-attributes", "key-create", "key-encrypt-rsa", "key-exchange", "key-import-export",
        "key-sign-verify", "key-support", "keys-secitem", "localauthentication", "lock-state", "match-limit",
        "persistent-ref", "return-matrix", "synchronizable", "update",
    ]

    private static func suite(_ area: String) throws -> ConformanceSuite {
        try ConformanceSuite(contentsOf: folder.appendingPathComponent("\(area).json"))
    }

    /// Memory for the folders of the disk store where the system has it, because every write is synced.
    private static let temporaryFolder: URL? =
        FileManager.default.isWritableFile(atPath: "/dev/shm") ? URL(fileURLWithPath: "/dev/shm") : nil

    @Test(arguments: areas, ConformanceStore.allCases)
    func everyCasePasses(area: String, store: ConformanceStore) throws {
        let suite = try Self.suite(area)
        #expect(!suite.cases.isEmpty)
        let report = suite.run(on: store, temporaryFolder: Self.temporaryFolder)
        #expect(report.failures.isEmpty, "\(report.text)")
        #expect(report.passedCount == suite.cases.count)
    }

    @Test func areasAreTheFiles() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(files.sorted() == Self.areas.map { "\($0).json" })
        var identifiers: Set<String> = []
        for area in Self.areas {
            for testCase in try Self.suite(area).cases {
                #expect(identifiers.insert(testCase.identifier).inserted)
                #expect(testCase.area == area)
                #expect(testCase.identifier.hasPrefix("\(area)/"))
            }
        }
    }

    /// A case passes for what it says and for nothing else: each of its expectations, made wrong, fails
    /// it.
    @Test(arguments: areas)
    func everyExpectationCounts(area: String) throws {
        var expectations = 0
        let runner = ConformanceRunner(temporaryFolder: nil)
        for testCase in try Self.suite(area).cases {
            let wrong = testCase.withOneExpectationWrong
            expectations += wrong.count
            // All that have the same steps otherwise are judged by one run.
            let steps = testCase.steps.last.map(\.arguments)
            let (judged, others) = (
                wrong.filter { $0.steps.last?.arguments == steps }, wrong.filter { $0.steps.last?.arguments != steps }
            )
            let failures = runner.failures(
                of: testCase, expecting: ([testCase] + judged).compactMap(\.steps.last?.expectation))
            try #require(failures.count == judged.count + 1)
            #expect(failures[0] == nil, "\(testCase.identifier) fails as it is")
            for (wrong, failure) in zip(judged, failures.dropFirst()) {
                #expect(failure != nil, "\(wrong.identifier) passes with \(wrong.title ?? "")")
            }
            for wrong in others {
                let report = ConformanceSuite(cases: [wrong]).run()
                #expect(report.failures.count == 1, "\(wrong.identifier) passes with \(wrong.title ?? "")")
            }
        }
        #expect(expectations > 0)
    }
}

extension ConformanceCase {
    /// Copies of the case that differ in one expectation of the last step, with the change as title.
    fileprivate var withOneExpectationWrong: [ConformanceCase] {
        guard let step = steps.last else { return [] }
        var wrong: [(String, ConformanceStep)] = []
        var expectation = step.expectation
        expectation["status"] = .integer(12345)
        wrong.append(("another status", step.expecting(expectation)))
        if let matcher = step.expectation["result"]?.object {
            for (name, content) in matcher {
                guard let other = Self.wrong(name, content) else { continue }
                var changed = matcher
                changed[name] = other
                expectation = step.expectation
                expectation["result"] = .object(changed)
                wrong.append(("another \(name)", step.expecting(expectation)))
            }
        }
        if let constant = step.arguments["equals"] {
            var arguments = step.arguments
            arguments["equals"] = constant.string == nil ? .string("x") : .string("not the constant")
            wrong.append(
                (
                    "another constant",
                    ConformanceStep(
                        operation: step.operation, arguments: arguments, expectation: step.expectation,
                        savedName: nil)
                ))
        }
        return wrong.map { title, step in
            ConformanceCase(
                identifier: identifier, area: area, title: title, environment: environment,
                steps: steps.dropLast() + [step])
        }
    }

    /// What `content` becomes so that no result that it accepts is accepted; nil where there is no
    /// simple way to say so.
    private static func wrong(_ name: String, _ content: ConformanceJSON) -> ConformanceJSON? {
        switch (name, content) {
        case ("type", .string(let type)): .string(type == "number" ? "boolean" : "number")
        case ("kind", .string(let kind)): .string(kind == "SecKey" ? "SecCertificate" : "SecKey")
        case ("equals", .boolean(let boolean)): .boolean(!boolean)
        case ("equals", _), ("prefix", _): .string("not this")
        case ("count", .integer(let count)), ("length", .integer(let count)): .integer(count + 1)
        case ("keysPresent", .array(let keys)): .array(keys + [.string("raw:never")])
        case ("keysAbsent", .array):
            .array(["kSecClass", "kSecAttrAccessGroup", "kSecValuePersistentRef"].map { .string($0) })
        case ("contains", .object(let members)): .object(members.mapValues { _ in .string("not this") })
        case ("unordered", .array(let elements)): .array(elements.dropLast() + [.string("not this")])
        case ("valueTypes", .object(let types)): .object(types.mapValues { _ in .string("array") })
        case ("equalsSaved", _): .string("never saved")
        default: nil
        }
    }
}

extension ConformanceStep {
    fileprivate func expecting(_ expectation: [String: ConformanceJSON]) -> ConformanceStep {
        ConformanceStep(operation: operation, arguments: arguments, expectation: expectation, savedName: savedName)
    }
}
