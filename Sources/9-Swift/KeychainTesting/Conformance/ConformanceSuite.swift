import Foundation

/// A set of conformance cases: the observable behaviour of the keychain, as data.
///
/// The cases are JSON in the format that Documentation/Specify/Conformance.md specifies. Each runs through the
/// public functions of `KeychainServices`, on an empty keychain of its own:
///
///     let suite = try ConformanceSuite(contentsOf: url)
///     let report = suite.run(on: .memory)
///     #expect(report.failures.isEmpty)
public struct ConformanceSuite: Sendable {
    /// The cases in the order of their files.
    public let cases: [ConformanceCase]

    /// A suite of `cases`.
    public init(cases: [ConformanceCase]) { self.cases = cases }

    /// The cases in the file at `url`.
    ///
    /// - Throws: ``ConformanceError`` when the file cannot be read or is malformed.
    public init(contentsOf url: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw ConformanceError.unreadableFile(path: url.path, reason: (error as NSError).localizedDescription)
        }
        try self.init(decoding: data)
    }

    /// The cases in `data`, which is JSON.
    ///
    /// - Throws: ``ConformanceError/malformedFile(_:)``.
    public init(decoding data: Data) throws {
        let json: ConformanceJSON
        do {
            json = try JSONDecoder().decode(ConformanceJSON.self, from: data)
        } catch {
            throw ConformanceError.malformedFile("it is not JSON")
        }
        guard let file = json.object else { throw ConformanceError.malformedFile("it is not an object") }
        guard file["format"] == .string("secitem-conformance") else {
            throw ConformanceError.malformedFile("its \"format\" is not \"secitem-conformance\"")
        }
        guard file["version"] == .integer(1) else { throw ConformanceError.malformedFile("its \"version\" is not 1") }
        guard let entries = file["cases"]?.array else { throw ConformanceError.malformedFile("it has no \"cases\"") }
        var cases: [ConformanceCase] = []
        for entry in entries { cases.append(try ConformanceCase(entry)) }
        self.cases = cases
    }

    /// The cases of one area.
    public func limited(to area: String) -> ConformanceSuite {
        ConformanceSuite(cases: cases.filter { $0.area == area })
    }

    /// Runs every case, each on an empty keychain of its own.
    ///
    /// - Parameters:
    ///   - store: What the keychains are made of.
    ///   - temporaryFolder: Where stores other than memory make their folders; nil for the system's
    ///     place for temporary files.
    public func run(
        on store: ConformanceStore = .memory, temporaryFolder: URL? = nil
    ) -> ConformanceReport {
        let folder = temporaryFolder ?? FileManager.default.temporaryDirectory
        let runner: ConformanceRunner
        switch store {
        case .memory: runner = ConformanceRunner(temporaryFolder: nil)
        case .disk: runner = ConformanceRunner(temporaryFolder: folder)
        case .daemon: runner = ConformanceRunner(temporaryFolder: folder, isServed: true)
        }
        return ConformanceReport(results: cases.map(runner.run))
    }
}

/// What the keychains of a conformance run are made of.
public enum ConformanceStore: String, Sendable, Hashable, CaseIterable {
    /// The engine with its items in memory.
    case memory
    /// The engine in a folder of its own, removed afterwards.
    case disk
    /// The engine in a folder of its own, through the server and the client of `keychaind` and a socket between them.
    case daemon
}
