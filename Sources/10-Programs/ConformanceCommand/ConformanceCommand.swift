import ArgumentParser
import Foundation
import KeychainTesting

/// `keychain-conformance`: runs conformance cases and says which of them fail.
@main
struct ConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychain-conformance",
        abstract: "Run SecItem conformance cases against the keychain of this package.",
        discussion: """
            Each case runs through the public functions of KeychainServices, on an empty keychain of its own. \
            The exit status is 0 if every case passed, 1 if one failed, none ran, or a file cannot be read.
            """)

    @Argument(help: "Files of cases in JSON; see Documentation/Specify/Conformance.md.")
    var files: [String]

    @Option(help: "Run only the cases of this area.")
    var area: String?

    @Option(help: "Where the keychains are kept: memory, disk or daemon.")
    var store: ConformanceStore = .memory

    @Flag(help: "Print a machine-readable report instead of lines for people.")
    var json = false

    func run() throws {
        let report: ConformanceReport
        do {
            report = ConformanceReport(combining: try results())
        } catch {
            printError("\(error)")
            throw ExitCode.failure
        }
        if report.results.isEmpty { printError("no case ran") }
        print(json ? report.json : report.text)
        if report.results.isEmpty || !report.failures.isEmpty { throw ExitCode.failure }
    }

    private func results() throws -> [ConformanceReport.Result] {
        var results: [ConformanceReport.Result] = []
        for file in files {
            var suite = try suite(in: file)
            if let area { suite = suite.limited(to: area) }
            results += suite.run(on: store).results
        }
        return results
    }

    private func suite(in file: String) throws -> ConformanceSuite {
        do {
            return try ConformanceSuite(contentsOf: URL(fileURLWithPath: file))
        } catch ConformanceError.malformedFile(let reason) {
            throw ConformanceError.malformedFile("\(file): \(reason)")
        }
    }

    private func printError(_ message: String) {
        FileHandle.standardError.write(Data("keychain-conformance: \(message)\n".utf8))
    }
}

extension ConformanceStore: ExpressibleByArgument {}
